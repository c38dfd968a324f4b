"""The document around the blocks: head with hints for mail programs, and the centred column."""

from typing import Final

TABLE: Final = 'role="presentation" width="100%" border="0" cellpadding="0" cellspacing="0"'
FONT: Final = "-apple-system,BlinkMacSystemFont,'Segoe UI',Roboto,Helvetica,Arial,sans-serif"

_DOCTYPE: Final = (
    '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Transitional//EN" '
    '"http://www.w3.org/TR/xhtml1/DTD/xhtml1-transitional.dtd">'
)
_SHEET: Final = (
    "blockquote,h1,h2,h3,img,li,ol,p,ul{margin-top:0;margin-bottom:0}"
    "@media only screen and (max-width:425px){.tab-row-full{width:100%!important}"
    ".tab-col-full{display:block!important;width:100%!important}.tab-pad{padding:0!important}}"
)
# Only what has the document's own colours changes: a block with a background keeps its text dark.
_DARK: Final = (
    "@media (prefers-color-scheme:dark){.cl-page{background:#18181b!important}"
    ".cl-text{color:#d4d4d8!important}.cl-head{color:#fafafa!important}.cl-soft{color:#a1a1aa!important}"
    ".cl-line{border-color:#3f3f46!important}.cl-quote{border-color:#71717a!important}.cl-code{background:#3f3f46!important;color:#fafafa!important}"
    ".cl-outline{background:#ffffff!important}}"
)
_RIGHT_TO_LEFT: Final = (
    "[dir=rtl] .cl-quote{border-left:0!important;border-right:4px solid #374151!important;"
    "padding-left:0!important;padding-right:16px!important}"
)
_OUTLOOK: Final = "<!--[if mso]><style>a,h1,h2,h3,li,p,td{font-family:Arial,sans-serif!important}</style><![endif]-->"
_LANGUAGE: Final = 'lang="{{ locale | _language }}" dir="{{ locale | _direction }}"'
_HEAD: Final = (
    '<head><meta http-equiv="Content-Type" content="text/html; charset=UTF-8">'
    '<meta http-equiv="X-UA-Compatible" content="IE=edge">'
    '<meta name="viewport" content="width=device-width">'
    '<meta name="x-apple-disable-message-reformatting">'
    '<meta name="format-detection" content="telephone=no,address=no,email=no,date=no,url=no">'
    '<meta name="color-scheme" content="light dark"><meta name="supported-color-schemes" content="light dark">'
    "<title>{{ _title }}</title>"
    f"<style>:root{{color-scheme:light dark;supported-color-schemes:light dark}}{_SHEET}</style>"
    f"<style>{_DARK}</style><style>{_RIGHT_TO_LEFT}</style>{_OUTLOOK}</head>"
)
_OUTLOOK_WIDTH: Final = f'<!--[if mso]><table {TABLE} style="width:600px" align="center"><tr><td><![endif]-->'
_BODY: Final = (
    '<body class="cl-page" style="margin:0;padding:0;background:#ffffff">'
    f'<table {TABLE} class="cl-page" style="background:#ffffff"><tr>'
    f'<td {_LANGUAGE} style="font-family:{FONT}">{_OUTLOOK_WIDTH}'
    f'<table {TABLE} align="center" style="width:100%;max-width:600px;min-width:300px;margin:0 auto"><tr>'
    '<td style="padding:16px">'
)
_END: Final = "</td></tr></table><!--[if mso]></td></tr></table><![endif]--></td></tr></table></body></html>"


def with_frame(blocks: str) -> str:
    """Return the whole document, in the language and direction of the person."""
    return f"{_DOCTYPE}<html {_LANGUAGE}>{_HEAD}{_BODY}{blocks}{_END}"
