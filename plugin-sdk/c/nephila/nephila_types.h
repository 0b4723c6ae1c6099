// Generated from wit/ by `cargo run --package nephila-sdk-c --example generate`. DO NOT EDIT!
//
// The pieces of a component's type, as custom sections. The assembler's `.text` at the end of each goes back to where code goes.
#ifndef NEPHILA_TYPES_H
#define NEPHILA_TYPES_H

#define NEPHILA_TYPE_IMPORTS \
    __asm__(".section \".custom_section.component-type:nephila-imports\",\"\",@\n" \
            ".ascii \"\\000asm\\015\\000\\001\\000\\000\\031\\026wit-component-encoding\\004\\000\\007\\205\\037\\001A\"\n" \
            ".ascii \"\\002\\001A\\035\\001B \\001m\\007\\003get\\004head\\004post\\003put\\006delete\\007opti\"\n" \
            ".ascii \"ons\\005patch\\004\\000\\006method\\003\\000\\000\\001r\\002\\004names\\005values\\004\\000\\006\"\n" \
            ".ascii \"header\\003\\000\\002\\001m\\002\\004http\\007browser\\004\\000\\010renderer\\003\\000\\004\\001\"\n" \
            ".ascii \"r\\002\\005first{\\004last{\\004\\000\\014status-range\\003\\000\\006\\001p\\003\\001p}\\001\"\n" \
            ".ascii \"k\\011\\001ks\\001p\\007\\001ky\\001r\\021\\003urls\\006method\\001\\007headers\\010\\007pay\"\n" \
            ".ascii \"load\\012\\005label\\013\\011user-data\\013\\010priorityz\\011forefr\"\n" \
            ".ascii \"ont\\177\\012unique-key\\013\\012session-id\\013\\010renderer\\005\\021a\"\n" \
            ".ascii \"ccepted-statuses\\014\\013max-retries\\015\\010no-retry\\177\"\n" \
            ".ascii \"\\016always-enqueue\\177\\016timeout-millis\\015\\012extra-j\"\n" \
            ".ascii \"son\\013\\004\\000\\013new-request\\003\\000\\016\\001r\\023\\003urls\\014original-u\"\n" \
            ".ascii \"rls\\006method\\001\\007headers\\010\\007payload\\012\\005label\\013\\011use\"\n" \
            ".ascii \"r-data\\013\\010priorityz\\005depthy\\012unique-keys\\012ses\"\n" \
            ".ascii \"sion-id\\013\\010renderer\\005\\021accepted-statuses\\014\\013re\"\n" \
            ".ascii \"try-county\\013max-retriesy\\010no-retry\\177\\016timeou\"\n" \
            ".ascii \"t-millisy\\011hop-county\\012extra-json\\013\\004\\000\\007reque\"\n" \
            ".text\n"); \
    __asm__(".section \".custom_section.component-type:nephila-imports\",\"\",@\n" \
            ".ascii \"st\\003\\000\\020\\001m\\002\\015http-redirect\\014meta-refresh\\004\\000\\010ho\"\n" \
            ".ascii \"p-kind\\003\\000\\022\\001r\\003\\003urls\\006status{\\004kind\\023\\004\\000\\003hop\\003\\000\\024\"\n" \
            ".ascii \"\\001r\\002\\021first-byte-millisy\\014total-millisy\\004\\000\\007t\"\n" \
            ".ascii \"imings\\003\\000\\026\\001p\\025\\001r\\011\\003urls\\006status{\\007headers\\010\\014co\"\n" \
            ".ascii \"ntent-type\\013\\007charset\\013\\016redirect-chain\\030\\007tim\"\n" \
            ".ascii \"ings\\027\\012body-bytesy\\012extra-json\\013\\004\\000\\011page-met\"\n" \
            ".ascii \"a\\003\\000\\031\\001m\\003\\005retry\\004skip\\005fatal\\004\\000\\006ending\\003\\000\\033\\001k\\034\\001\"\n" \
            ".ascii \"r\\003\\004codes\\007messages\\006ending\\035\\004\\000\\005error\\003\\000\\036\\003\\000\\033n\"\n" \
            ".ascii \"ephila:crawler/types@0.1.0\\005\\000\\002\\003\\000\\000\\011page-me\"\n" \
            ".ascii \"ta\\002\\003\\000\\000\\005error\\001B(\\002\\003\\002\\001\\001\\004\\000\\011page-meta\\003\\000\\000\\002\\003\\002\\001\\002\"\n" \
            ".ascii \"\\004\\000\\005error\\003\\000\\002\\001q\\004\\004text\\000\\000\\004html\\000\\000\\004attr\\001s\\000\\003url\"\n" \
            ".ascii \"\\001s\\000\\004\\000\\012field-kind\\003\\000\\004\\001r\\004\\004names\\010selectors\\004k\"\n" \
            ".ascii \"ind\\005\\004many\\177\\004\\000\\005field\\003\\000\\006\\001ps\\001r\\002\\004names\\006values\"\n" \
            ".ascii \"\\010\\004\\000\\013field-value\\003\\000\\011\\001r\\003\\003urls\\004hrefs\\003rels\\004\\000\\004\"\n" \
            ".ascii \"link\\003\\000\\013\\004\\000\\010document\\003\\001\\001h\\015\\001@\\001\\004self\\016\\000\\001\\004\\000\\025[me\"\n" \
            ".ascii \"thod]document.meta\\001\\017\\001p}\\001@\\001\\004self\\016\\000\\020\\004\\000\\025[me\"\n" \
            ".text\n"); \
    __asm__(".section \".custom_section.component-type:nephila-imports\",\"\",@\n" \
            ".ascii \"thod]document.body\\001\\021\\001j\\001s\\001\\003\\001@\\001\\004self\\016\\000\\022\\004\\000\\025\"\n" \
            ".ascii \"[method]document.text\\001\\023\\001ks\\001j\\001\\024\\001\\003\\001@\\001\\004self\"\n" \
            ".ascii \"\\016\\000\\025\\004\\000\\026[method]document.title\\001\\026\\001p\\007\\001p\\012\\001j\\001\\030\"\n" \
            ".ascii \"\\001\\003\\001@\\002\\004self\\016\\006fields\\027\\000\\031\\004\\000\\030[method]document\"\n" \
            ".ascii \".extract\\001\\032\\001p\\030\\001j\\001\\033\\001\\003\\001@\\003\\004self\\016\\004items\\006field\"\n" \
            ".ascii \"s\\027\\000\\034\\004\\000\\035[method]document.extract-each\\001\\035\\001p\"\n" \
            ".ascii \"\\014\\001j\\001\\036\\001\\003\\001@\\002\\004self\\016\\010selector\\024\\000\\037\\004\\000\\026[method]d\"\n" \
            ".ascii \"ocument.links\\001 \\003\\000\\032nephila:crawler/page@0\"\n" \
            ".ascii \".1.0\\005\\003\\002\\003\\000\\000\\007request\\002\\003\\000\\001\\010document\\001B\\016\\002\\003\\002\\001\\004\\004\"\n" \
            ".ascii \"\\000\\007request\\003\\000\\000\\002\\003\\002\\001\\002\\004\\000\\005error\\003\\000\\002\\002\\003\\002\\001\\005\\004\\000\\010docu\"\n" \
            ".ascii \"ment\\003\\000\\004\\004\\000\\004call\\003\\001\\001h\\006\\001@\\001\\004self\\007\\000\\001\\004\\000\\024[method\"\n" \
            ".ascii \"]call.request\\001\\010\\001i\\005\\001j\\001\\011\\001\\003\\001@\\001\\004self\\007\\000\\012\\004\\000\\025[m\"\n" \
            ".ascii \"ethod]call.document\\001\\013\\003\\000\\035nephila:crawler/\"\n" \
            ".ascii \"context@0.1.0\\005\\006\\002\\003\\000\\000\\013new-request\\001B!\\002\\003\\002\\001\\007\\004\"\n" \
            ".ascii \"\\000\\013new-request\\003\\000\\000\\002\\003\\002\\001\\002\\004\\000\\005error\\003\\000\\002\\001ks\\001r\\003\\012u\"\n" \
            ".ascii \"nique-keys\\015already-known\\177\\007refused\\004\\004\\000\\010enq\"\n" \
            ".text\n"); \
    __asm__(".section \".custom_section.component-type:nephila-imports\",\"\",@\n" \
            ".ascii \"ueued\\003\\000\\005\\001m\\004\\003all\\013same-domain\\015same-hostnam\"\n" \
            ".ascii \"e\\013same-origin\\004\\000\\010strategy\\003\\000\\007\\001ps\\001ky\\001r\\014\\010sel\"\n" \
            ".ascii \"ector\\004\\010strategy\\010\\005globs\\011\\007regexes\\011\\015exclude\"\n" \
            ".ascii \"-globs\\011\\017exclude-regexes\\011\\005label\\004\\011user-dat\"\n" \
            ".ascii \"a\\004\\010priorityz\\011forefront\\177\\005limit\\012\\012extra-jso\"\n" \
            ".ascii \"n\\004\\004\\000\\014link-options\\003\\000\\013\\001r\\004\\005foundy\\010enqueuedy\"\n" \
            ".ascii \"\\015already-knowny\\007refusedy\\004\\000\\014link-summary\\003\"\n" \
            ".ascii \"\\000\\015\\001m\\004\\007pending\\007handled\\006failed\\007skipped\\004\\000\\015r\"\n" \
            ".ascii \"equest-state\\003\\000\\017\\001k{\\001r\\004\\005state\\020\\011final-url\\004\\006\"\n" \
            ".ascii \"reason\\004\\006status\\021\\004\\000\\016request-status\\003\\000\\022\\001p\\001\\001p\"\n" \
            ".ascii \"\\006\\001j\\001\\025\\001\\003\\001@\\001\\010requests\\024\\000\\026\\004\\000\\007enqueue\\001\\027\\001j\\001\\016\\001\\003\"\n" \
            ".ascii \"\\001@\\001\\007options\\014\\000\\030\\004\\000\\015enqueue-links\\001\\031\\001k\\023\\001p\\032\\001j\"\n" \
            ".ascii \"\\001\\033\\001\\003\\001@\\001\\004urls\\011\\000\\034\\004\\000\\006lookup\\001\\035\\003\\000\\033nephila:cra\"\n" \
            ".ascii \"wler/queue@0.1.0\\005\\010\\001B\\014\\002\\003\\002\\001\\002\\004\\000\\005error\\003\\000\\000\\001ps\"\n" \
            ".ascii \"\\001ks\\001r\\002\\005items\\002\\004next\\003\\004\\000\\005slice\\003\\000\\004\\001j\\000\\001\\001\\001@\\002\\007d\"\n" \
            ".ascii \"ataset\\003\\005items\\002\\000\\006\\004\\000\\004push\\001\\007\\001j\\001\\005\\001\\001\\001@\\003\\007datas\"\n" \
            ".text\n"); \
    __asm__(".section \".custom_section.component-type:nephila-imports\",\"\",@\n" \
            ".ascii \"et\\003\\006cursor\\003\\005limity\\000\\010\\004\\000\\004read\\001\\011\\003\\000\\035nephila:\"\n" \
            ".ascii \"crawler/dataset@0.1.0\\005\\011\\001B\\024\\002\\003\\002\\001\\002\\004\\000\\005error\\003\"\n" \
            ".ascii \"\\000\\000\\001p}\\001r\\002\\014content-types\\005value\\002\\004\\000\\005entry\\003\\000\\003\"\n" \
            ".ascii \"\\001ks\\001k\\004\\001j\\001\\006\\001\\001\\001@\\002\\005store\\005\\003keys\\000\\007\\004\\000\\003get\\001\\010\\001j\\000\"\n" \
            ".ascii \"\\001\\001\\001@\\003\\005store\\005\\003keys\\005entry\\004\\000\\011\\004\\000\\003set\\001\\012\\001@\\002\\005st\"\n" \
            ".ascii \"ore\\005\\003keys\\000\\011\\004\\000\\006remove\\001\\013\\001j\\001\\005\\001\\001\\001@\\002\\005store\\005\\003k\"\n" \
            ".ascii \"eys\\000\\014\\004\\000\\016get-auto-saved\\001\\015\\001@\\003\\005store\\005\\003keys\\005\"\n" \
            ".ascii \"values\\000\\011\\004\\000\\016set-auto-saved\\001\\016\\003\\000\\037nephila:cr\"\n" \
            ".ascii \"awler/key-value@0.1.0\\005\\012\\001B\\024\\002\\003\\002\\001\\002\\004\\000\\005error\\003\"\n" \
            ".ascii \"\\000\\000\\001ks\\001j\\001\\002\\001\\001\\001@\\001\\003keys\\000\\003\\004\\000\\003get\\001\\004\\001ps\\001j\\001\\005\\001\\001\\001@\"\n" \
            ".ascii \"\\000\\000\\006\\004\\000\\004keys\\001\\007\\001j\\000\\001\\001\\001@\\002\\003keys\\005values\\000\\010\\004\\000\\003set\"\n" \
            ".ascii \"\\001\\011\\001@\\001\\003keys\\000\\010\\004\\000\\006remove\\001\\012\\001@\\002\\003keys\\002byz\\000\\010\\004\\000\\011\"\n" \
            ".ascii \"increment\\001\\013\\004\\000\\006append\\001\\011\\001@\\002\\003keys\\005valueu\\000\\010\\004\"\n" \
            ".ascii \"\\000\\003max\\001\\014\\003\\000\\033nephila:crawler/state@0.1.0\\005\\013\\001\"\n" \
            ".ascii \"B\\005\\001m\\005\\005trace\\005debug\\004info\\004warn\\005error\\004\\000\\005leve\"\n" \
            ".ascii \"l\\003\\000\\000\\001ks\\001@\\003\\005level\\001\\007messages\\006fields\\002\\001\\000\\004\\000\\005w\"\n" \
            ".text\n"); \
    __asm__(".section \".custom_section.component-type:nephila-imports\",\"\",@\n" \
            ".ascii \"rite\\001\\003\\003\\000\\031nephila:crawler/log@0.1.0\\005\\014\\001B\\005\\001\"\n" \
            ".ascii \"@\\000\\000s\\004\\000\\005input\\001\\000\\001ks\\001@\\001\\004names\\000\\001\\004\\000\\007setting\\001\\002\"\n" \
            ".ascii \"\\003\\000\\034nephila:crawler/config@0.1.0\\005\\015\\001B\\004\\001@\\001\\006\"\n" \
            ".ascii \"reasons\\001\\000\\004\\000\\004stop\\001\\000\\001@\\001\\007messages\\001\\000\\004\\000\\016statu\"\n" \
            ".ascii \"s-message\\001\\001\\003\\000\\033nephila:crawler/crawl@0.1.\"\n" \
            ".ascii \"0\\005\\016\\001B\\010\\002\\003\\002\\001\\002\\004\\000\\005error\\003\\000\\000\\001j\\000\\001\\001\\001@\\001\\005events\\000\\002\\004\"\n" \
            ".ascii \"\\000\\002on\\001\\003\\004\\000\\003off\\001\\003\\001@\\002\\005events\\007payloads\\000\\002\\004\\000\\004em\"\n" \
            ".ascii \"it\\001\\004\\003\\000\\034nephila:crawler/events@0.1.0\\005\\017\\001B\\036\"\n" \
            ".ascii \"\\002\\003\\002\\001\\002\\004\\000\\005error\\003\\000\\000\\001ks\\001r\\012\\004names\\005values\\006doma\"\n" \
            ".ascii \"ins\\011host-only\\177\\004paths\\006secure\\177\\011http-only\\177\\007\"\n" \
            ".ascii \"expires\\002\\011same-site\\002\\012extra-json\\002\\004\\000\\006cookie\"\n" \
            ".ascii \"\\003\\000\\003\\001ps\\001r\\002\\003url\\002\\020set-cookie-lines\\005\\004\\000\\013url-c\"\n" \
            ".ascii \"ookies\\003\\000\\006\\001p\\007\\001r\\004\\002id\\002\\011user-datas\\007cookies\\010\\012\"\n" \
            ".ascii \"extra-json\\002\\004\\000\\010addition\\003\\000\\011\\001j\\001s\\001\\001\\001@\\000\\000\\013\\004\\000\\002i\"\n" \
            ".ascii \"d\\001\\014\\004\\000\\011user-data\\001\\014\\001j\\000\\001\\001\\001@\\001\\004jsons\\000\\015\\004\\000\\015set-\"\n" \
            ".ascii \"user-data\\001\\016\\001p\\004\\001j\\001\\017\\001\\001\\001@\\001\\003url\\002\\000\\020\\004\\000\\007cookies\"\n" \
            ".text\n"); \
    __asm__(".section \".custom_section.component-type:nephila-imports\",\"\",@\n" \
            ".ascii \"\\001\\021\\001@\\002\\003url\\002\\020set-cookie-lines\\005\\000\\015\\004\\000\\013set-coo\"\n" \
            ".ascii \"kies\\001\\022\\001@\\000\\000\\015\\004\\000\\004good\\001\\023\\004\\000\\003bad\\001\\023\\004\\000\\006retire\\001\\023\\001\"\n" \
            ".ascii \"@\\001\\007session\\012\\000\\013\\004\\000\\003add\\001\\024\\003\\000\\035nephila:crawler/\"\n" \
            ".ascii \"session@0.1.0\\005\\020\\004\\000\\037nephila:sdk-imports/sd\"\n" \
            ".ascii \"k-imports\\004\\000\\013\\021\\001\\000\\013sdk-imports\\003\\000\\000\\000/\\011produce\"\n" \
            ".ascii \"rs\\001\\014processed-by\\001\\015wit-component\\0070.254.2\"\n" \
            ".text\n")

#define NEPHILA_TYPE_HANDLER \
    __asm__(".section \".custom_section.component-type:nephila-handler\",\"\",@\n" \
            ".ascii \"\\000asm\\015\\000\\001\\000\\000\\031\\026wit-component-encoding\\004\\000\\007\\200\\017\\001A\"\n" \
            ".ascii \"\\002\\001A\\015\\001B \\001m\\007\\003get\\004head\\004post\\003put\\006delete\\007opti\"\n" \
            ".ascii \"ons\\005patch\\004\\000\\006method\\003\\000\\000\\001r\\002\\004names\\005values\\004\\000\\006\"\n" \
            ".ascii \"header\\003\\000\\002\\001m\\002\\004http\\007browser\\004\\000\\010renderer\\003\\000\\004\\001\"\n" \
            ".ascii \"r\\002\\005first{\\004last{\\004\\000\\014status-range\\003\\000\\006\\001p\\003\\001p}\\001\"\n" \
            ".ascii \"k\\011\\001ks\\001p\\007\\001ky\\001r\\021\\003urls\\006method\\001\\007headers\\010\\007pay\"\n" \
            ".ascii \"load\\012\\005label\\013\\011user-data\\013\\010priorityz\\011forefr\"\n" \
            ".ascii \"ont\\177\\012unique-key\\013\\012session-id\\013\\010renderer\\005\\021a\"\n" \
            ".ascii \"ccepted-statuses\\014\\013max-retries\\015\\010no-retry\\177\"\n" \
            ".ascii \"\\016always-enqueue\\177\\016timeout-millis\\015\\012extra-j\"\n" \
            ".ascii \"son\\013\\004\\000\\013new-request\\003\\000\\016\\001r\\023\\003urls\\014original-u\"\n" \
            ".ascii \"rls\\006method\\001\\007headers\\010\\007payload\\012\\005label\\013\\011use\"\n" \
            ".ascii \"r-data\\013\\010priorityz\\005depthy\\012unique-keys\\012ses\"\n" \
            ".ascii \"sion-id\\013\\010renderer\\005\\021accepted-statuses\\014\\013re\"\n" \
            ".ascii \"try-county\\013max-retriesy\\010no-retry\\177\\016timeou\"\n" \
            ".ascii \"t-millisy\\011hop-county\\012extra-json\\013\\004\\000\\007reque\"\n" \
            ".text\n"); \
    __asm__(".section \".custom_section.component-type:nephila-handler\",\"\",@\n" \
            ".ascii \"st\\003\\000\\020\\001m\\002\\015http-redirect\\014meta-refresh\\004\\000\\010ho\"\n" \
            ".ascii \"p-kind\\003\\000\\022\\001r\\003\\003urls\\006status{\\004kind\\023\\004\\000\\003hop\\003\\000\\024\"\n" \
            ".ascii \"\\001r\\002\\021first-byte-millisy\\014total-millisy\\004\\000\\007t\"\n" \
            ".ascii \"imings\\003\\000\\026\\001p\\025\\001r\\011\\003urls\\006status{\\007headers\\010\\014co\"\n" \
            ".ascii \"ntent-type\\013\\007charset\\013\\016redirect-chain\\030\\007tim\"\n" \
            ".ascii \"ings\\027\\012body-bytesy\\012extra-json\\013\\004\\000\\011page-met\"\n" \
            ".ascii \"a\\003\\000\\031\\001m\\003\\005retry\\004skip\\005fatal\\004\\000\\006ending\\003\\000\\033\\001k\\034\\001\"\n" \
            ".ascii \"r\\003\\004codes\\007messages\\006ending\\035\\004\\000\\005error\\003\\000\\036\\003\\000\\033n\"\n" \
            ".ascii \"ephila:crawler/types@0.1.0\\005\\000\\002\\003\\000\\000\\011page-me\"\n" \
            ".ascii \"ta\\002\\003\\000\\000\\005error\\001B(\\002\\003\\002\\001\\001\\004\\000\\011page-meta\\003\\000\\000\\002\\003\\002\\001\\002\"\n" \
            ".ascii \"\\004\\000\\005error\\003\\000\\002\\001q\\004\\004text\\000\\000\\004html\\000\\000\\004attr\\001s\\000\\003url\"\n" \
            ".ascii \"\\001s\\000\\004\\000\\012field-kind\\003\\000\\004\\001r\\004\\004names\\010selectors\\004k\"\n" \
            ".ascii \"ind\\005\\004many\\177\\004\\000\\005field\\003\\000\\006\\001ps\\001r\\002\\004names\\006values\"\n" \
            ".ascii \"\\010\\004\\000\\013field-value\\003\\000\\011\\001r\\003\\003urls\\004hrefs\\003rels\\004\\000\\004\"\n" \
            ".ascii \"link\\003\\000\\013\\004\\000\\010document\\003\\001\\001h\\015\\001@\\001\\004self\\016\\000\\001\\004\\000\\025[me\"\n" \
            ".ascii \"thod]document.meta\\001\\017\\001p}\\001@\\001\\004self\\016\\000\\020\\004\\000\\025[me\"\n" \
            ".text\n"); \
    __asm__(".section \".custom_section.component-type:nephila-handler\",\"\",@\n" \
            ".ascii \"thod]document.body\\001\\021\\001j\\001s\\001\\003\\001@\\001\\004self\\016\\000\\022\\004\\000\\025\"\n" \
            ".ascii \"[method]document.text\\001\\023\\001ks\\001j\\001\\024\\001\\003\\001@\\001\\004self\"\n" \
            ".ascii \"\\016\\000\\025\\004\\000\\026[method]document.title\\001\\026\\001p\\007\\001p\\012\\001j\\001\\030\"\n" \
            ".ascii \"\\001\\003\\001@\\002\\004self\\016\\006fields\\027\\000\\031\\004\\000\\030[method]document\"\n" \
            ".ascii \".extract\\001\\032\\001p\\030\\001j\\001\\033\\001\\003\\001@\\003\\004self\\016\\004items\\006field\"\n" \
            ".ascii \"s\\027\\000\\034\\004\\000\\035[method]document.extract-each\\001\\035\\001p\"\n" \
            ".ascii \"\\014\\001j\\001\\036\\001\\003\\001@\\002\\004self\\016\\010selector\\024\\000\\037\\004\\000\\026[method]d\"\n" \
            ".ascii \"ocument.links\\001 \\003\\000\\032nephila:crawler/page@0\"\n" \
            ".ascii \".1.0\\005\\003\\002\\003\\000\\000\\007request\\002\\003\\000\\001\\010document\\001B\\016\\002\\003\\002\\001\\004\\004\"\n" \
            ".ascii \"\\000\\007request\\003\\000\\000\\002\\003\\002\\001\\002\\004\\000\\005error\\003\\000\\002\\002\\003\\002\\001\\005\\004\\000\\010docu\"\n" \
            ".ascii \"ment\\003\\000\\004\\004\\000\\004call\\003\\001\\001h\\006\\001@\\001\\004self\\007\\000\\001\\004\\000\\024[method\"\n" \
            ".ascii \"]call.request\\001\\010\\001i\\005\\001j\\001\\011\\001\\003\\001@\\001\\004self\\007\\000\\012\\004\\000\\025[m\"\n" \
            ".ascii \"ethod]call.document\\001\\013\\003\\000\\035nephila:crawler/\"\n" \
            ".ascii \"context@0.1.0\\005\\006\\002\\003\\000\\002\\004call\\001B\\010\\002\\003\\002\\001\\002\\004\\000\\005error\"\n" \
            ".ascii \"\\003\\000\\000\\002\\003\\002\\001\\007\\004\\000\\004call\\003\\000\\002\\001i\\003\\001j\\000\\001\\001\\001@\\001\\004call\\004\\000\\005\\004\\000\\006\"\n" \
            ".ascii \"handle\\001\\006\\004\\000\\035nephila:crawler/handler@0.1.0\"\n" \
            ".text\n"); \
    __asm__(".section \".custom_section.component-type:nephila-handler\",\"\",@\n" \
            ".ascii \"\\005\\010\\004\\000\\037nephila:sdk-handler/sdk-handler\\004\\000\\013\\021\"\n" \
            ".ascii \"\\001\\000\\013sdk-handler\\003\\000\\000\\000/\\011producers\\001\\014processed\"\n" \
            ".ascii \"-by\\001\\015wit-component\\0070.254.2\"\n" \
            ".text\n")
#define NEPHILA_NAME_HANDLER_HANDLE "nephila:crawler/handler@0.1.0#handle"

#define NEPHILA_TYPE_MANIFEST \
    __asm__(".section \".custom_section.component-type:nephila-manifest\",\"\",@\n" \
            ".ascii \"\\000asm\\015\\000\\001\\000\\000\\031\\026wit-component-encoding\\004\\000\\007\\334\\001\\001A\"\n" \
            ".ascii \"\\002\\001A\\002\\001B\\011\\001r\\002\\004names\\005values\\004\\000\\007setting\\003\\000\\000\\001ps\\001\"\n" \
            ".ascii \"p\\001\\001ks\\001r\\006\\004names\\007versions\\013descriptions\\012sta\"\n" \
            ".ascii \"rt-urls\\002\\010settings\\003\\012extra-json\\004\\004\\000\\013descrip\"\n" \
            ".ascii \"tion\\003\\000\\005\\001@\\000\\000\\006\\004\\000\\010describe\\001\\007\\004\\000\\036nephila:craw\"\n" \
            ".ascii \"ler/manifest@0.1.0\\005\\000\\004\\000!nephila:sdk-manif\"\n" \
            ".ascii \"est/sdk-manifest\\004\\000\\013\\022\\001\\000\\014sdk-manifest\\003\\000\\000\\000/\"\n" \
            ".ascii \"\\011producers\\001\\014processed-by\\001\\015wit-component\\007\"\n" \
            ".ascii \"0.254.2\"\n" \
            ".text\n")
#define NEPHILA_NAME_MANIFEST_DESCRIBE "nephila:crawler/manifest@0.1.0#describe"

#define NEPHILA_TYPE_FAILURE \
    __asm__(".section \".custom_section.component-type:nephila-failure\",\"\",@\n" \
            ".ascii \"\\000asm\\015\\000\\001\\000\\000\\031\\026wit-component-encoding\\004\\000\\007\\277\\017\\001A\"\n" \
            ".ascii \"\\002\\001A\\015\\001B \\001m\\007\\003get\\004head\\004post\\003put\\006delete\\007opti\"\n" \
            ".ascii \"ons\\005patch\\004\\000\\006method\\003\\000\\000\\001r\\002\\004names\\005values\\004\\000\\006\"\n" \
            ".ascii \"header\\003\\000\\002\\001m\\002\\004http\\007browser\\004\\000\\010renderer\\003\\000\\004\\001\"\n" \
            ".ascii \"r\\002\\005first{\\004last{\\004\\000\\014status-range\\003\\000\\006\\001p\\003\\001p}\\001\"\n" \
            ".ascii \"k\\011\\001ks\\001p\\007\\001ky\\001r\\021\\003urls\\006method\\001\\007headers\\010\\007pay\"\n" \
            ".ascii \"load\\012\\005label\\013\\011user-data\\013\\010priorityz\\011forefr\"\n" \
            ".ascii \"ont\\177\\012unique-key\\013\\012session-id\\013\\010renderer\\005\\021a\"\n" \
            ".ascii \"ccepted-statuses\\014\\013max-retries\\015\\010no-retry\\177\"\n" \
            ".ascii \"\\016always-enqueue\\177\\016timeout-millis\\015\\012extra-j\"\n" \
            ".ascii \"son\\013\\004\\000\\013new-request\\003\\000\\016\\001r\\023\\003urls\\014original-u\"\n" \
            ".ascii \"rls\\006method\\001\\007headers\\010\\007payload\\012\\005label\\013\\011use\"\n" \
            ".ascii \"r-data\\013\\010priorityz\\005depthy\\012unique-keys\\012ses\"\n" \
            ".ascii \"sion-id\\013\\010renderer\\005\\021accepted-statuses\\014\\013re\"\n" \
            ".ascii \"try-county\\013max-retriesy\\010no-retry\\177\\016timeou\"\n" \
            ".ascii \"t-millisy\\011hop-county\\012extra-json\\013\\004\\000\\007reque\"\n" \
            ".text\n"); \
    __asm__(".section \".custom_section.component-type:nephila-failure\",\"\",@\n" \
            ".ascii \"st\\003\\000\\020\\001m\\002\\015http-redirect\\014meta-refresh\\004\\000\\010ho\"\n" \
            ".ascii \"p-kind\\003\\000\\022\\001r\\003\\003urls\\006status{\\004kind\\023\\004\\000\\003hop\\003\\000\\024\"\n" \
            ".ascii \"\\001r\\002\\021first-byte-millisy\\014total-millisy\\004\\000\\007t\"\n" \
            ".ascii \"imings\\003\\000\\026\\001p\\025\\001r\\011\\003urls\\006status{\\007headers\\010\\014co\"\n" \
            ".ascii \"ntent-type\\013\\007charset\\013\\016redirect-chain\\030\\007tim\"\n" \
            ".ascii \"ings\\027\\012body-bytesy\\012extra-json\\013\\004\\000\\011page-met\"\n" \
            ".ascii \"a\\003\\000\\031\\001m\\003\\005retry\\004skip\\005fatal\\004\\000\\006ending\\003\\000\\033\\001k\\034\\001\"\n" \
            ".ascii \"r\\003\\004codes\\007messages\\006ending\\035\\004\\000\\005error\\003\\000\\036\\003\\000\\033n\"\n" \
            ".ascii \"ephila:crawler/types@0.1.0\\005\\000\\002\\003\\000\\000\\011page-me\"\n" \
            ".ascii \"ta\\002\\003\\000\\000\\005error\\001B(\\002\\003\\002\\001\\001\\004\\000\\011page-meta\\003\\000\\000\\002\\003\\002\\001\\002\"\n" \
            ".ascii \"\\004\\000\\005error\\003\\000\\002\\001q\\004\\004text\\000\\000\\004html\\000\\000\\004attr\\001s\\000\\003url\"\n" \
            ".ascii \"\\001s\\000\\004\\000\\012field-kind\\003\\000\\004\\001r\\004\\004names\\010selectors\\004k\"\n" \
            ".ascii \"ind\\005\\004many\\177\\004\\000\\005field\\003\\000\\006\\001ps\\001r\\002\\004names\\006values\"\n" \
            ".ascii \"\\010\\004\\000\\013field-value\\003\\000\\011\\001r\\003\\003urls\\004hrefs\\003rels\\004\\000\\004\"\n" \
            ".ascii \"link\\003\\000\\013\\004\\000\\010document\\003\\001\\001h\\015\\001@\\001\\004self\\016\\000\\001\\004\\000\\025[me\"\n" \
            ".ascii \"thod]document.meta\\001\\017\\001p}\\001@\\001\\004self\\016\\000\\020\\004\\000\\025[me\"\n" \
            ".text\n"); \
    __asm__(".section \".custom_section.component-type:nephila-failure\",\"\",@\n" \
            ".ascii \"thod]document.body\\001\\021\\001j\\001s\\001\\003\\001@\\001\\004self\\016\\000\\022\\004\\000\\025\"\n" \
            ".ascii \"[method]document.text\\001\\023\\001ks\\001j\\001\\024\\001\\003\\001@\\001\\004self\"\n" \
            ".ascii \"\\016\\000\\025\\004\\000\\026[method]document.title\\001\\026\\001p\\007\\001p\\012\\001j\\001\\030\"\n" \
            ".ascii \"\\001\\003\\001@\\002\\004self\\016\\006fields\\027\\000\\031\\004\\000\\030[method]document\"\n" \
            ".ascii \".extract\\001\\032\\001p\\030\\001j\\001\\033\\001\\003\\001@\\003\\004self\\016\\004items\\006field\"\n" \
            ".ascii \"s\\027\\000\\034\\004\\000\\035[method]document.extract-each\\001\\035\\001p\"\n" \
            ".ascii \"\\014\\001j\\001\\036\\001\\003\\001@\\002\\004self\\016\\010selector\\024\\000\\037\\004\\000\\026[method]d\"\n" \
            ".ascii \"ocument.links\\001 \\003\\000\\032nephila:crawler/page@0\"\n" \
            ".ascii \".1.0\\005\\003\\002\\003\\000\\000\\007request\\002\\003\\000\\001\\010document\\001B\\016\\002\\003\\002\\001\\004\\004\"\n" \
            ".ascii \"\\000\\007request\\003\\000\\000\\002\\003\\002\\001\\002\\004\\000\\005error\\003\\000\\002\\002\\003\\002\\001\\005\\004\\000\\010docu\"\n" \
            ".ascii \"ment\\003\\000\\004\\004\\000\\004call\\003\\001\\001h\\006\\001@\\001\\004self\\007\\000\\001\\004\\000\\024[method\"\n" \
            ".ascii \"]call.request\\001\\010\\001i\\005\\001j\\001\\011\\001\\003\\001@\\001\\004self\\007\\000\\012\\004\\000\\025[m\"\n" \
            ".ascii \"ethod]call.document\\001\\013\\003\\000\\035nephila:crawler/\"\n" \
            ".ascii \"context@0.1.0\\005\\006\\002\\003\\000\\002\\004call\\001B\\013\\002\\003\\002\\001\\002\\004\\000\\005error\"\n" \
            ".ascii \"\\003\\000\\000\\002\\003\\002\\001\\007\\004\\000\\004call\\003\\000\\002\\001k{\\001r\\004\\004codes\\007messages\\010\"\n" \
            ".ascii \"attemptsy\\006status\\004\\004\\000\\006reason\\003\\000\\005\\001i\\003\\001j\\000\\001\\001\\001@\\002\"\n" \
            ".text\n"); \
    __asm__(".section \".custom_section.component-type:nephila-failure\",\"\",@\n" \
            ".ascii \"\\004call\\007\\006reason\\006\\000\\010\\004\\000\\012on-failure\\001\\011\\004\\000\\035nephil\"\n" \
            ".ascii \"a:crawler/failure@0.1.0\\005\\010\\004\\000\\037nephila:sdk-\"\n" \
            ".ascii \"failure/sdk-failure\\004\\000\\013\\021\\001\\000\\013sdk-failure\\003\\000\\000\"\n" \
            ".ascii \"\\000/\\011producers\\001\\014processed-by\\001\\015wit-componen\"\n" \
            ".ascii \"t\\0070.254.2\"\n" \
            ".text\n")
#define NEPHILA_NAME_FAILURE_ON_FAILURE "nephila:crawler/failure@0.1.0#on-failure"

#define NEPHILA_TYPE_FINISH \
    __asm__(".section \".custom_section.component-type:nephila-finish\",\"\",@\n" \
            ".ascii \"\\000asm\\015\\000\\001\\000\\000\\031\\026wit-component-encoding\\004\\000\\007\\256\\010\\001A\"\n" \
            ".ascii \"\\002\\001A\\005\\001B \\001m\\007\\003get\\004head\\004post\\003put\\006delete\\007opti\"\n" \
            ".ascii \"ons\\005patch\\004\\000\\006method\\003\\000\\000\\001r\\002\\004names\\005values\\004\\000\\006\"\n" \
            ".ascii \"header\\003\\000\\002\\001m\\002\\004http\\007browser\\004\\000\\010renderer\\003\\000\\004\\001\"\n" \
            ".ascii \"r\\002\\005first{\\004last{\\004\\000\\014status-range\\003\\000\\006\\001p\\003\\001p}\\001\"\n" \
            ".ascii \"k\\011\\001ks\\001p\\007\\001ky\\001r\\021\\003urls\\006method\\001\\007headers\\010\\007pay\"\n" \
            ".ascii \"load\\012\\005label\\013\\011user-data\\013\\010priorityz\\011forefr\"\n" \
            ".ascii \"ont\\177\\012unique-key\\013\\012session-id\\013\\010renderer\\005\\021a\"\n" \
            ".ascii \"ccepted-statuses\\014\\013max-retries\\015\\010no-retry\\177\"\n" \
            ".ascii \"\\016always-enqueue\\177\\016timeout-millis\\015\\012extra-j\"\n" \
            ".ascii \"son\\013\\004\\000\\013new-request\\003\\000\\016\\001r\\023\\003urls\\014original-u\"\n" \
            ".ascii \"rls\\006method\\001\\007headers\\010\\007payload\\012\\005label\\013\\011use\"\n" \
            ".ascii \"r-data\\013\\010priorityz\\005depthy\\012unique-keys\\012ses\"\n" \
            ".ascii \"sion-id\\013\\010renderer\\005\\021accepted-statuses\\014\\013re\"\n" \
            ".ascii \"try-county\\013max-retriesy\\010no-retry\\177\\016timeou\"\n" \
            ".ascii \"t-millisy\\011hop-county\\012extra-json\\013\\004\\000\\007reque\"\n" \
            ".text\n"); \
    __asm__(".section \".custom_section.component-type:nephila-finish\",\"\",@\n" \
            ".ascii \"st\\003\\000\\020\\001m\\002\\015http-redirect\\014meta-refresh\\004\\000\\010ho\"\n" \
            ".ascii \"p-kind\\003\\000\\022\\001r\\003\\003urls\\006status{\\004kind\\023\\004\\000\\003hop\\003\\000\\024\"\n" \
            ".ascii \"\\001r\\002\\021first-byte-millisy\\014total-millisy\\004\\000\\007t\"\n" \
            ".ascii \"imings\\003\\000\\026\\001p\\025\\001r\\011\\003urls\\006status{\\007headers\\010\\014co\"\n" \
            ".ascii \"ntent-type\\013\\007charset\\013\\016redirect-chain\\030\\007tim\"\n" \
            ".ascii \"ings\\027\\012body-bytesy\\012extra-json\\013\\004\\000\\011page-met\"\n" \
            ".ascii \"a\\003\\000\\031\\001m\\003\\005retry\\004skip\\005fatal\\004\\000\\006ending\\003\\000\\033\\001k\\034\\001\"\n" \
            ".ascii \"r\\003\\004codes\\007messages\\006ending\\035\\004\\000\\005error\\003\\000\\036\\003\\000\\033n\"\n" \
            ".ascii \"ephila:crawler/types@0.1.0\\005\\000\\002\\003\\000\\000\\005error\\001B\"\n" \
            ".ascii \"\\005\\002\\003\\002\\001\\001\\004\\000\\005error\\003\\000\\000\\001j\\000\\001\\001\\001@\\000\\000\\002\\004\\000\\011on-finish\\001\"\n" \
            ".ascii \"\\003\\004\\000\\034nephila:crawler/finish@0.1.0\\005\\002\\004\\000\\035nep\"\n" \
            ".ascii \"hila:sdk-finish/sdk-finish\\004\\000\\013\\020\\001\\000\\012sdk-fin\"\n" \
            ".ascii \"ish\\003\\000\\000\\000/\\011producers\\001\\014processed-by\\001\\015wit-co\"\n" \
            ".ascii \"mponent\\0070.254.2\"\n" \
            ".text\n")
#define NEPHILA_NAME_FINISH_ON_FINISH "nephila:crawler/finish@0.1.0#on-finish"

#define NEPHILA_TYPE_LISTENER \
    __asm__(".section \".custom_section.component-type:nephila-listener\",\"\",@\n" \
            ".ascii \"\\000asm\\015\\000\\001\\000\\000\\031\\026wit-component-encoding\\004\\000\\007\\220\\011\\001A\"\n" \
            ".ascii \"\\002\\001A\\005\\001B \\001m\\007\\003get\\004head\\004post\\003put\\006delete\\007opti\"\n" \
            ".ascii \"ons\\005patch\\004\\000\\006method\\003\\000\\000\\001r\\002\\004names\\005values\\004\\000\\006\"\n" \
            ".ascii \"header\\003\\000\\002\\001m\\002\\004http\\007browser\\004\\000\\010renderer\\003\\000\\004\\001\"\n" \
            ".ascii \"r\\002\\005first{\\004last{\\004\\000\\014status-range\\003\\000\\006\\001p\\003\\001p}\\001\"\n" \
            ".ascii \"k\\011\\001ks\\001p\\007\\001ky\\001r\\021\\003urls\\006method\\001\\007headers\\010\\007pay\"\n" \
            ".ascii \"load\\012\\005label\\013\\011user-data\\013\\010priorityz\\011forefr\"\n" \
            ".ascii \"ont\\177\\012unique-key\\013\\012session-id\\013\\010renderer\\005\\021a\"\n" \
            ".ascii \"ccepted-statuses\\014\\013max-retries\\015\\010no-retry\\177\"\n" \
            ".ascii \"\\016always-enqueue\\177\\016timeout-millis\\015\\012extra-j\"\n" \
            ".ascii \"son\\013\\004\\000\\013new-request\\003\\000\\016\\001r\\023\\003urls\\014original-u\"\n" \
            ".ascii \"rls\\006method\\001\\007headers\\010\\007payload\\012\\005label\\013\\011use\"\n" \
            ".ascii \"r-data\\013\\010priorityz\\005depthy\\012unique-keys\\012ses\"\n" \
            ".ascii \"sion-id\\013\\010renderer\\005\\021accepted-statuses\\014\\013re\"\n" \
            ".ascii \"try-county\\013max-retriesy\\010no-retry\\177\\016timeou\"\n" \
            ".ascii \"t-millisy\\011hop-county\\012extra-json\\013\\004\\000\\007reque\"\n" \
            ".text\n"); \
    __asm__(".section \".custom_section.component-type:nephila-listener\",\"\",@\n" \
            ".ascii \"st\\003\\000\\020\\001m\\002\\015http-redirect\\014meta-refresh\\004\\000\\010ho\"\n" \
            ".ascii \"p-kind\\003\\000\\022\\001r\\003\\003urls\\006status{\\004kind\\023\\004\\000\\003hop\\003\\000\\024\"\n" \
            ".ascii \"\\001r\\002\\021first-byte-millisy\\014total-millisy\\004\\000\\007t\"\n" \
            ".ascii \"imings\\003\\000\\026\\001p\\025\\001r\\011\\003urls\\006status{\\007headers\\010\\014co\"\n" \
            ".ascii \"ntent-type\\013\\007charset\\013\\016redirect-chain\\030\\007tim\"\n" \
            ".ascii \"ings\\027\\012body-bytesy\\012extra-json\\013\\004\\000\\011page-met\"\n" \
            ".ascii \"a\\003\\000\\031\\001m\\003\\005retry\\004skip\\005fatal\\004\\000\\006ending\\003\\000\\033\\001k\\034\\001\"\n" \
            ".ascii \"r\\003\\004codes\\007messages\\006ending\\035\\004\\000\\005error\\003\\000\\036\\003\\000\\033n\"\n" \
            ".ascii \"ephila:crawler/types@0.1.0\\005\\000\\002\\003\\000\\000\\005error\\001B\"\n" \
            ".ascii \"\\013\\002\\003\\002\\001\\001\\004\\000\\005error\\003\\000\\000\\001ks\\001r\\005\\002ids\\004names\\007payloa\"\n" \
            ".ascii \"ds\\012created-ats\\012extra-json\\002\\004\\000\\005event\\003\\000\\003\\001ps\"\n" \
            ".ascii \"\\001@\\000\\000\\005\\004\\000\\015subscriptions\\001\\006\\001j\\000\\001\\001\\001@\\001\\005event\\004\\000\\007\"\n" \
            ".ascii \"\\004\\000\\010on-event\\001\\010\\004\\000\\036nephila:crawler/listener\"\n" \
            ".ascii \"@0.1.0\\005\\002\\004\\000!nephila:sdk-listener/sdk-list\"\n" \
            ".ascii \"ener\\004\\000\\013\\022\\001\\000\\014sdk-listener\\003\\000\\000\\000/\\011producers\\001\\014\"\n" \
            ".ascii \"processed-by\\001\\015wit-component\\0070.254.2\"\n" \
            ".text\n")
#define NEPHILA_NAME_LISTENER_SUBSCRIPTIONS "nephila:crawler/listener@0.1.0#subscriptions"
#define NEPHILA_NAME_LISTENER_ON_EVENT "nephila:crawler/listener@0.1.0#on-event"

#define NEPHILA_TYPE_SESSIONS \
    __asm__(".section \".custom_section.component-type:nephila-sessions\",\"\",@\n" \
            ".ascii \"\\000asm\\015\\000\\001\\000\\000\\031\\026wit-component-encoding\\004\\000\\007\\340\\010\\001A\"\n" \
            ".ascii \"\\002\\001A\\005\\001B \\001m\\007\\003get\\004head\\004post\\003put\\006delete\\007opti\"\n" \
            ".ascii \"ons\\005patch\\004\\000\\006method\\003\\000\\000\\001r\\002\\004names\\005values\\004\\000\\006\"\n" \
            ".ascii \"header\\003\\000\\002\\001m\\002\\004http\\007browser\\004\\000\\010renderer\\003\\000\\004\\001\"\n" \
            ".ascii \"r\\002\\005first{\\004last{\\004\\000\\014status-range\\003\\000\\006\\001p\\003\\001p}\\001\"\n" \
            ".ascii \"k\\011\\001ks\\001p\\007\\001ky\\001r\\021\\003urls\\006method\\001\\007headers\\010\\007pay\"\n" \
            ".ascii \"load\\012\\005label\\013\\011user-data\\013\\010priorityz\\011forefr\"\n" \
            ".ascii \"ont\\177\\012unique-key\\013\\012session-id\\013\\010renderer\\005\\021a\"\n" \
            ".ascii \"ccepted-statuses\\014\\013max-retries\\015\\010no-retry\\177\"\n" \
            ".ascii \"\\016always-enqueue\\177\\016timeout-millis\\015\\012extra-j\"\n" \
            ".ascii \"son\\013\\004\\000\\013new-request\\003\\000\\016\\001r\\023\\003urls\\014original-u\"\n" \
            ".ascii \"rls\\006method\\001\\007headers\\010\\007payload\\012\\005label\\013\\011use\"\n" \
            ".ascii \"r-data\\013\\010priorityz\\005depthy\\012unique-keys\\012ses\"\n" \
            ".ascii \"sion-id\\013\\010renderer\\005\\021accepted-statuses\\014\\013re\"\n" \
            ".ascii \"try-county\\013max-retriesy\\010no-retry\\177\\016timeou\"\n" \
            ".ascii \"t-millisy\\011hop-county\\012extra-json\\013\\004\\000\\007reque\"\n" \
            ".text\n"); \
    __asm__(".section \".custom_section.component-type:nephila-sessions\",\"\",@\n" \
            ".ascii \"st\\003\\000\\020\\001m\\002\\015http-redirect\\014meta-refresh\\004\\000\\010ho\"\n" \
            ".ascii \"p-kind\\003\\000\\022\\001r\\003\\003urls\\006status{\\004kind\\023\\004\\000\\003hop\\003\\000\\024\"\n" \
            ".ascii \"\\001r\\002\\021first-byte-millisy\\014total-millisy\\004\\000\\007t\"\n" \
            ".ascii \"imings\\003\\000\\026\\001p\\025\\001r\\011\\003urls\\006status{\\007headers\\010\\014co\"\n" \
            ".ascii \"ntent-type\\013\\007charset\\013\\016redirect-chain\\030\\007tim\"\n" \
            ".ascii \"ings\\027\\012body-bytesy\\012extra-json\\013\\004\\000\\011page-met\"\n" \
            ".ascii \"a\\003\\000\\031\\001m\\003\\005retry\\004skip\\005fatal\\004\\000\\006ending\\003\\000\\033\\001k\\034\\001\"\n" \
            ".ascii \"r\\003\\004codes\\007messages\\006ending\\035\\004\\000\\005error\\003\\000\\036\\003\\000\\033n\"\n" \
            ".ascii \"ephila:crawler/types@0.1.0\\005\\000\\002\\003\\000\\000\\005error\\001B\"\n" \
            ".ascii \"\\010\\002\\003\\002\\001\\001\\004\\000\\005error\\003\\000\\000\\001ks\\001r\\002\\011user-datas\\012extra\"\n" \
            ".ascii \"-json\\002\\004\\000\\013new-session\\003\\000\\003\\001j\\001\\004\\001\\001\\001@\\000\\000\\005\\004\\000\\006cre\"\n" \
            ".ascii \"ate\\001\\006\\004\\000\\036nephila:crawler/sessions@0.1.0\\005\\002\"\n" \
            ".ascii \"\\004\\000!nephila:sdk-sessions/sdk-sessions\\004\\000\\013\\022\"\n" \
            ".ascii \"\\001\\000\\014sdk-sessions\\003\\000\\000\\000/\\011producers\\001\\014processe\"\n" \
            ".ascii \"d-by\\001\\015wit-component\\0070.254.2\"\n" \
            ".text\n")
#define NEPHILA_NAME_SESSIONS_CREATE "nephila:crawler/sessions@0.1.0#create"

#define NEPHILA_TYPE_PIPELINE \
    __asm__(".section \".custom_section.component-type:nephila-pipeline\",\"\",@\n" \
            ".ascii \"\\000asm\\015\\000\\001\\000\\000\\031\\026wit-component-encoding\\004\\000\\007\\241\\011\\001A\"\n" \
            ".ascii \"\\002\\001A\\005\\001B \\001m\\007\\003get\\004head\\004post\\003put\\006delete\\007opti\"\n" \
            ".ascii \"ons\\005patch\\004\\000\\006method\\003\\000\\000\\001r\\002\\004names\\005values\\004\\000\\006\"\n" \
            ".ascii \"header\\003\\000\\002\\001m\\002\\004http\\007browser\\004\\000\\010renderer\\003\\000\\004\\001\"\n" \
            ".ascii \"r\\002\\005first{\\004last{\\004\\000\\014status-range\\003\\000\\006\\001p\\003\\001p}\\001\"\n" \
            ".ascii \"k\\011\\001ks\\001p\\007\\001ky\\001r\\021\\003urls\\006method\\001\\007headers\\010\\007pay\"\n" \
            ".ascii \"load\\012\\005label\\013\\011user-data\\013\\010priorityz\\011forefr\"\n" \
            ".ascii \"ont\\177\\012unique-key\\013\\012session-id\\013\\010renderer\\005\\021a\"\n" \
            ".ascii \"ccepted-statuses\\014\\013max-retries\\015\\010no-retry\\177\"\n" \
            ".ascii \"\\016always-enqueue\\177\\016timeout-millis\\015\\012extra-j\"\n" \
            ".ascii \"son\\013\\004\\000\\013new-request\\003\\000\\016\\001r\\023\\003urls\\014original-u\"\n" \
            ".ascii \"rls\\006method\\001\\007headers\\010\\007payload\\012\\005label\\013\\011use\"\n" \
            ".ascii \"r-data\\013\\010priorityz\\005depthy\\012unique-keys\\012ses\"\n" \
            ".ascii \"sion-id\\013\\010renderer\\005\\021accepted-statuses\\014\\013re\"\n" \
            ".ascii \"try-county\\013max-retriesy\\010no-retry\\177\\016timeou\"\n" \
            ".ascii \"t-millisy\\011hop-county\\012extra-json\\013\\004\\000\\007reque\"\n" \
            ".text\n"); \
    __asm__(".section \".custom_section.component-type:nephila-pipeline\",\"\",@\n" \
            ".ascii \"st\\003\\000\\020\\001m\\002\\015http-redirect\\014meta-refresh\\004\\000\\010ho\"\n" \
            ".ascii \"p-kind\\003\\000\\022\\001r\\003\\003urls\\006status{\\004kind\\023\\004\\000\\003hop\\003\\000\\024\"\n" \
            ".ascii \"\\001r\\002\\021first-byte-millisy\\014total-millisy\\004\\000\\007t\"\n" \
            ".ascii \"imings\\003\\000\\026\\001p\\025\\001r\\011\\003urls\\006status{\\007headers\\010\\014co\"\n" \
            ".ascii \"ntent-type\\013\\007charset\\013\\016redirect-chain\\030\\007tim\"\n" \
            ".ascii \"ings\\027\\012body-bytesy\\012extra-json\\013\\004\\000\\011page-met\"\n" \
            ".ascii \"a\\003\\000\\031\\001m\\003\\005retry\\004skip\\005fatal\\004\\000\\006ending\\003\\000\\033\\001k\\034\\001\"\n" \
            ".ascii \"r\\003\\004codes\\007messages\\006ending\\035\\004\\000\\005error\\003\\000\\036\\003\\000\\033n\"\n" \
            ".ascii \"ephila:crawler/types@0.1.0\\005\\000\\002\\003\\000\\000\\005error\\001B\"\n" \
            ".ascii \"\\012\\002\\003\\002\\001\\001\\004\\000\\005error\\003\\000\\000\\001ks\\001r\\004\\007dataset\\002\\004jsons\\003u\"\n" \
            ".ascii \"rl\\002\\012extra-json\\002\\004\\000\\004item\\003\\000\\003\\001q\\004\\004keep\\000\\000\\006chan\"\n" \
            ".ascii \"ge\\001s\\000\\004drop\\001s\\000\\006reject\\001s\\000\\004\\000\\007verdict\\003\\000\\005\\001j\\001\\006\"\n" \
            ".ascii \"\\001\\001\\001@\\001\\004item\\004\\000\\007\\004\\000\\014process-item\\001\\010\\004\\000\\036nephila\"\n" \
            ".ascii \":crawler/pipeline@0.1.0\\005\\002\\004\\000!nephila:sdk-\"\n" \
            ".ascii \"pipeline/sdk-pipeline\\004\\000\\013\\022\\001\\000\\014sdk-pipeline\"\n" \
            ".ascii \"\\003\\000\\000\\000/\\011producers\\001\\014processed-by\\001\\015wit-compo\"\n" \
            ".text\n"); \
    __asm__(".section \".custom_section.component-type:nephila-pipeline\",\"\",@\n" \
            ".ascii \"nent\\0070.254.2\"\n" \
            ".text\n")
#define NEPHILA_NAME_PIPELINE_PROCESS_ITEM "nephila:crawler/pipeline@0.1.0#process-item"

#endif
