"""The layout of the demo's mails, and the texts of translated mails by language."""

from typing import Any, Final

LAYOUT: Final = "larkspur"
"""The identifier of the layout."""

_WELCOME: dict[str, dict[str, str]] = {
    "en_US": {
        "subject": "Welcome to Larkspur Cycles",
        "title": "Good to have you on board",
        "greeting": "Hello {{subscriber.firstName | default: 'there'}},",
        "text": "Your account is ready. Tell us which bike you ride, and we remind you before it needs care.",
        "button": "Add your bike",
        "questions": "Questions? Just answer this mail: it reaches a person.",
    },
    "de_DE": {
        "subject": "Willkommen bei Larkspur Cycles",
        "title": "Schön, dass du dabei bist",
        "greeting": "Hallo {{subscriber.firstName}},",
        "text": "Dein Konto ist bereit. Welches Rad fährst du? Wir erinnern dich, bevor es Pflege braucht.",
        "button": "Fahrrad eintragen",
        "questions": "Fragen? Antworte einfach auf diese Mail: Sie erreicht einen Menschen.",
    },
    "fr_FR": {
        "subject": "Bienvenue chez Larkspur Cycles",
        "title": "Ravis de vous compter parmi nous",
        "greeting": "Bonjour {{subscriber.firstName}},",
        "text": "Votre compte est prêt. Dites-nous quel vélo vous avez, et nous vous préviendrons avant l’entretien.",
        "button": "Ajouter mon vélo",
        # `questions` is missing: readers of French get the English sentence.
    },
    "ar_EG": {
        "subject": "أهلاً بك في Larkspur Cycles",
        "title": "سعداء بانضمامك إلينا",
        "greeting": "مرحباً {{subscriber.firstName}}،",
        "text": "حسابك جاهز. أخبرنا بدراجتك، ونذكّرك قبل أن تحتاج إلى صيانة.",
        "button": "أضف دراجتك",
        "questions": "لديك أسئلة؟ أجب على هذه الرسالة: يقرؤها إنسان.",
    },
}
_FRAME: dict[str, dict[str, str]] = {
    "en_US": {
        "reason": "You get this mail because you have an account with us.",
        "motto": "We repair what others throw away.",
    },
    "de_DE": {
        "reason": "Du bekommst diese Mail, weil du ein Konto bei uns hast.",
        "motto": "Wir reparieren, was andere wegwerfen.",
    },
    "fr_FR": {
        "reason": "Vous recevez ce message parce que vous avez un compte chez nous.",
        "motto": "Nous réparons ce que d’autres jettent.",
    },
    "ar_EG": {
        "reason": "وصلتك هذه الرسالة لأن لديك حساباً عندنا.",
        "motto": "نصلح ما يرميه الآخرون.",
    },
}


def list_translations() -> list[dict[str, Any]]:
    """The texts of the welcome mail and of the layout, as the API takes them."""
    return [
        *(
            {"resourceType": "workflow", "resourceId": "welcome", "locale": locale, "content": {"mail": content}}
            for locale, content in _WELCOME.items()
        ),
        *(
            {"resourceType": "layout", "resourceId": LAYOUT, "locale": locale, "content": content}
            for locale, content in _FRAME.items()
        ),
    ]
