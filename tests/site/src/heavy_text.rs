//! The parts of a heavy page that every page of a site repeats: styles, scripts, icons.

/// Links, scripts and styles, as a template of some years leaves them.
pub(crate) const HEAD: &str = r##"<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
<meta http-equiv="X-UA-Compatible" content="IE=edge">
<meta name="theme-color" content="#23395b">
<meta name="format-detection" content="telephone=no">
<meta name="robots" content="index,follow,max-image-preview:large">
<link rel="preconnect" href="https://cdn.market.example" crossorigin>
<link rel="dns-prefetch" href="//stats.market.example">
<link rel="preload" href="/assets/fonts/inter-var.woff2" as="font" type="font/woff2" crossorigin>
<link rel="icon" type="image/svg+xml" href="/assets/favicon.svg">
<link rel="apple-touch-icon" sizes="180x180" href="/assets/apple-touch-icon.png">
<link rel="manifest" href="/assets/site.webmanifest">
<link rel="stylesheet" href="/assets/css/main.3f9a1c.css" media="all">
<link rel="stylesheet" href="/assets/css/print.77c0de.css" media="print">
<link rel="alternate" type="application/rss+xml" title="New arrivals" href="/feeds/new.xml">
<!--[if lt IE 9]><script src="/assets/js/html5shiv.min.js"></script><![endif]-->
<style>
:root{--ink:#1b1f23;--paper:#fff;--brand:#23395b;--accent:#c8553d;--gap:1rem;--radius:.375rem}
*,*::before,*::after{box-sizing:border-box}html{font:100%/1.5 Inter,system-ui,sans-serif;color:var(--ink)}
body{margin:0;background:var(--paper)}img{max-width:100%;height:auto}a{color:var(--brand);text-underline-offset:.15em}
.site-header{display:flex;flex-wrap:wrap;align-items:center;gap:var(--gap);padding:var(--gap) calc(var(--gap)*2);border-bottom:1px solid #e1e4e8}
.nav ul{display:flex;gap:var(--gap);list-style:none;margin:0;padding:0}.nav li ul{display:none;position:absolute;flex-direction:column}
.nav li:hover>ul,.nav li:focus-within>ul{display:flex}.nav a[aria-current]::after{content:"\2190";margin-left:.25em}
.grid{display:grid;grid-template-columns:repeat(auto-fill,minmax(14rem,1fr));gap:var(--gap)}
.card{border:1px solid #e1e4e8;border-radius:var(--radius);overflow:hidden;transition:box-shadow .2s ease-in-out}
.card:hover{box-shadow:0 .5rem 1rem rgba(27,31,35,.12)}.card__price{font-weight:600}.card__price--old{text-decoration:line-through;opacity:.6}
@media (max-width:48rem){.layout{grid-template-columns:1fr}.nav ul{flex-direction:column}}@media print{.site-header,.site-footer{display:none}}
</style>
<script>
window.dataLayer=window.dataLayer||[];function gtag(){dataLayer.push(arguments)}gtag('js',new Date(0));
(function(w,d){for(var i=0,q=w.__queue||[];i<q.length&&q[i]<1e3;i++){if(q[i]>0&&!d.hidden){w.dataLayer.push({event:"late",n:q[i]})}}
var t="<div class=\"template\"><a href='#'>not a link<\/a></div>";w.__tpl=t;d.documentElement.className=d.documentElement.className.replace("no-js","js");
if("serviceWorker"in navigator&&location.protocol==="https:"){navigator.serviceWorker.register("/sw.js").catch(function(e){console&&console.warn(e)})}})(window,document);
</script>
<script src="/assets/js/runtime.0b51d2.js" defer></script>
<script src="/assets/js/vendor.98ab34.js" defer></script>
<script src="https://stats.market.example/collect.js" async data-site="42" data-consent="pending"></script>
"##;

/// A line drawing.
pub(crate) const ICON_STAR: &str = r#"<svg class="icon icon--star" viewBox="0 0 24 24" width="16" height="16" aria-hidden="true" focusable="false"><path d="M12 2l3.09 6.26L22 9.27l-5 4.87 1.18 6.88L12 17.77l-6.18 3.25L7 14.14 2 9.27l6.91-1.01L12 2z" fill="currentColor"/></svg>"#;

/// Another.
pub(crate) const ICON_CART: &str = r#"<svg class="icon icon--cart" viewBox="0 0 24 24" width="24" height="24" role="img"><title>Cart</title><g fill="none" stroke="currentColor" stroke-width="2" stroke-linecap="round" stroke-linejoin="round"><circle cx="9" cy="21" r="1"/><circle cx="20" cy="21" r="1"/><path d="M1 1h4l2.68 13.39a2 2 0 0 0 2 1.61h9.72a2 2 0 0 0 2-1.61L23 6H6"/></g></svg>"#;

/// A third.
pub(crate) const ICON_CHEVRON: &str = r#"<svg class="icon" viewBox="0 0 16 16" width="12" height="12" aria-hidden="true"><polyline points="4 6 8 10 12 6" fill="none" stroke="currentColor"/></svg>"#;

/// Search, account and cart, beside the menu.
pub(crate) const TOOLS: &str = r#"<form class="search" action="/search" method="get" role="search" novalidate><label class="visually-hidden" for="q">Search</label>
<input type="search" id="q" name="q" placeholder="Search 240,000 things&hellip;" autocomplete="off" autocapitalize="none" required>
<select name="in" aria-label="Department"><option value="" selected>All<option value="b">Books<option value="m">Music<option value="g">Garden<option value="k" disabled>Kitchen</select>
<button type="submit" class="btn btn--ghost" disabled>Go</button></form>
"#;

/// The end of every page.
pub(crate) const FOOT: &str = r##"<div class="legal"><p>&copy; 2026 Nephila&nbsp;Market Ltd. &middot; All prices include <abbr title="value added tax">VAT</abbr>. Registered in England &amp; Wales.
<p>Write to <a class="legal__mail" href="mailto:hello@market.example">hello@market.example</a> or see us <a rel="noopener nofollow" target="_blank" href="https://social.example/nephila">elsewhere</a>.
</div></footer>
<noscript><img src="https://stats.market.example/pixel.gif" height="1" width="1" alt=""></noscript>
<script>document.querySelectorAll("[data-lazy]").forEach(function(e){if(e.dataset.lazy<"9"&&!e.src){e.src=e.dataset.src}});</script>
<!-- rendered by node 7 of 12 -->
</body>
</html>
"##;
