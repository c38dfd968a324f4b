"""The words that people send to stop text messages, and to get them again."""

import re
import unicodedata
from typing import Final

# Those that carriers ask for, and the usual ones of other languages. A word counts only if it is the whole message: who
# answers a question with a sentence that has such a word in it does not want to unsubscribe.
STOP_WORDS: Final = frozenset(
    {
        *("stop", "stopall", "stop all", "unsubscribe", "cancel", "end", "quit", "revoke", "optout", "opt out"),
        *("stopp", "halt", "abmelden", "abbestellen"),
        *("arret", "desabonner", "desinscrire", "desinscription"),
        *("alto", "baja", "parar", "cancelar", "detener"),
        *("sair", "pare", "remover"),
        *("annulla", "disiscrivi", "cancella"),
        *("afmelden", "uitschrijven", "stoppen"),
        *("توقف", "ايقاف", "الغاء"),
    }
)
START_WORDS: Final = frozenset(
    {
        *("start", "unstop", "subscribe", "resume", "optin", "opt in"),
        *("anmelden", "reprendre", "alta", "iniciar", "inizia", "aanmelden", "ابدا", "اشتراك"),
    }
)
_MAX_LENGTH: Final = 40
_NO_LETTERS: Final = re.compile(r"[^\w]+|_")


def read_keyword(text: str) -> bool | None:
    """Return whether a message asks to get messages (True) or to stop them (False); None: neither."""
    if len(text) > _MAX_LENGTH:
        return None
    word = _fold(text)
    if word in STOP_WORDS:
        return False
    return True if word in START_WORDS else None


def _fold(text: str) -> str:
    """Leave out case, accents and everything that is no letter: `Arrêt!` is `arret`."""
    decomposed = unicodedata.normalize("NFKD", text).casefold()
    letters = "".join(one for one in decomposed if not unicodedata.combining(one))
    return _NO_LETTERS.sub(" ", letters).strip()
