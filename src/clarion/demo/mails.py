"""The mails of Larkspur Cycles: HTML with Liquid, in one frame that mail readers of all ages can show.

The frame is a layout too, which the translated mails have.
"""

_TEXT = "font:16px/1.5 -apple-system,'Segoe UI',Helvetica,Arial,sans-serif;color:#1f2933"
_SMALL = "font:13px/1.5 -apple-system,'Segoe UI',Helvetica,Arial,sans-serif;color:#616e7c"
_BUTTON = (
    "display:inline-block;background:#2f5d50;color:#ffffff;text-decoration:none;font-weight:600;"
    "padding:12px 22px;border-radius:8px"
)
_CELL = "padding:8px 0;border-bottom:1px solid #e4e7eb"


_FOOTER = "Larkspur Cycles, 12 Example Street. We repair what others throw away."


def _frame(title: str, content: str, footer: str) -> str:
    """A whole HTML document."""
    return f"""<!doctype html>
<html><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<title>{title}</title></head>
<body style="margin:0;background:#f5f7f6">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="background:#f5f7f6">
<tr><td align="center" style="padding:28px 12px">
<table role="presentation" width="560" cellpadding="0" cellspacing="0"
 style="max-width:560px;width:100%;background:#ffffff;border-radius:14px">
<tr><td style="padding:22px 32px;background:#2f5d50;border-radius:14px 14px 0 0;color:#ffffff;
font:600 18px/1.3 -apple-system,'Segoe UI',Helvetica,Arial,sans-serif">Larkspur Cycles</td></tr>
<tr><td style="padding:28px 32px;{_TEXT}">
{content}
</td></tr>
<tr><td style="padding:18px 32px;border-top:1px solid #e4e7eb;{_SMALL}">{footer}</td></tr>
</table></td></tr></table></body></html>"""


def _title(title: str) -> str:
    return f'<h1 style="margin:0 0 14px;font-size:24px;line-height:1.3">{title}</h1>'


def _mail(title: str, body: str, footer: str = "You get this mail because you have an account with us.") -> str:
    content = f"{_title(title)}\n{body}"
    return _frame(title, content, f"{footer}<br>\n{_FOOTER}").replace("<html>", '<html lang="en">', 1)


def _button(label: str, url: str) -> str:
    return f'<p style="margin:22px 0"><a href="{url}" style="{_BUTTON}">{label}</a></p>'


def _greeting(text: str) -> str:
    name = "{{subscriber.firstName | default: 'there'}}"
    # The name may be written from right to left, and the comma must stay behind it.
    return f"<p>Hello <bdi>{name}</bdi>,</p><p>{text}</p>"


LAYOUT = _frame("Larkspur Cycles", "{{content}}", "{{t.reason}}<br>\nLarkspur Cycles, 12 Example Street. {{t.motto}}")

WELCOME = (
    _title("{{t.mail.title}}")
    + "<p>{{t.mail.greeting}}</p><p>{{t.mail.text}}</p>"
    + _button("{{t.mail.button}}", "https://larkspur.example.com/bikes/new")
    + "<p>{{t.mail.questions}}</p>"
)

TIPS = _mail(
    "Three things that keep a bike happy",
    _greeting("Two days with us, and maybe you have ridden already. Here is what our mechanics wish everybody knew:")
    + "<ol><li><strong>Air</strong> every two weeks: soft tyres wear out twice as fast.</li>"
    "<li><strong>Oil</strong> after rain, and wipe it off again.</li>"
    "<li><strong>Listen</strong>: a new noise is cheaper today than next month.</li></ol>"
    + _button("Book a check-up", "https://larkspur.example.com/service"),
)

ORDER = _mail(
    "Thank you for your order",
    _greeting("We have your order <strong>{{payload.orderNumber}}</strong> and pack it now.")
    + '<table role="presentation" width="100%" cellpadding="0" cellspacing="0">'
    "{% for item in payload.items %}"
    f'<tr><td style="{_CELL}">{{{{item.name}}}}</td>'
    f'<td style="{_CELL}" align="right">{{{{item.quantity}}}} × {{{{item.price}}}} €</td></tr>'
    "{% endfor %}"
    '<tr><td style="padding:10px 0"><strong>Total</strong></td>'
    '<td style="padding:10px 0" align="right"><strong>{{payload.total}} €</strong></td></tr></table>'
    + _button("See your order", "https://larkspur.example.com/orders/{{payload.orderNumber}}"),
    "You get this mail because you ordered something.",
)

SHIPPED = _mail(
    "Your order is on its way",
    _greeting("{{steps.carrier.name}} has your order <strong>{{payload.orderNumber}}</strong>.")
    + _button("Follow the parcel", "{{steps.carrier.trackingUrl}}"),
    "You get this mail because you ordered something.",
)

PAYMENT = _mail(
    "Your payment did not go through",
    _greeting(
        "Your bank refused <strong>{{payload.amount}} €</strong> for {{payload.reason}}. Nothing is lost: we keep "
        "your order until {{payload.keptUntil | date: '%d %B'}}."
    )
    + _button("Try again", "https://larkspur.example.com/pay/{{payload.invoice}}")
    + "<p>If it happens again, another card usually helps.</p>",
    "This mail is about a payment, so you get it whatever you switched off.",
)

COMMENTS = _mail(
    "{{step.total_count}} new in “{{payload.threadTitle}}”",
    _greeting("This is what others wrote while you were away:") + "{% for event in step.events %}"
    '<blockquote style="margin:0 0 14px;padding:10px 16px;border-left:4px solid #9fb8ad;background:#f5f7f6">'
    "<strong>{{event.author}}</strong><br>{{event.text}}</blockquote>"
    "{% endfor %}" + _button("Answer", "https://larkspur.example.com/community/{{payload.thread}}"),
    "You get this mail because you follow the thread.",
)

SERVICE = _mail(
    "Your {{payload.bike}} has an appointment",
    _greeting(
        "We expect you at {{payload.shop}} on "
        "<strong>{{payload.appointment | date: '%A, %d %B, %H:%M'}}</strong> (UTC)."
    )
    + _button("Change the appointment", "https://larkspur.example.com/service/{{payload.booking}}"),
)

NEWSLETTER = _mail(
    "{{payload.headline}}",
    _greeting("{{payload.intro}}")
    + "<ul>{% for one in payload.stories %}<li>{{one}}</li>{% endfor %}</ul>"
    + _button("Read more", "https://larkspur.example.com/news/{{payload.issue}}"),
    "You get this mail because you subscribed to the newsletter.",
)

NEWSLETTER_GERMAN = _mail(
    "{{payload.headlineGerman}}",
    "<p>Hallo <bdi>{{subscriber.firstName}}</bdi>,</p><p>Das Neueste aus der Werkstatt, wie immer kurz.</p>"
    "<ul>{% for one in payload.stories %}<li>{{one}}</li>{% endfor %}</ul>"
    + _button("Weiterlesen", "https://larkspur.example.com/news/{{payload.issue}}"),
    "Du bekommst diese Mail, weil du den Newsletter abonniert hast.",
)
