"""How a quote is read. No host is needed for that, so it is tested in test_quote.py."""


def clean(text: str) -> str:
    """A quote's text without the quotation marks around it."""
    return text.strip().removeprefix("“").removesuffix("”")
