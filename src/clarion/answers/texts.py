"""The texts of the page for answers in the languages that it has; those about links are of `unsubscribe.texts`."""

from typing import Final

from msgspec import Struct


class AnswerTexts(Struct, frozen=True, kw_only=True):
    """What the page says; questions and labels stand beside these texts, never in them."""

    title: str
    your_answer: str
    answering_as: str
    confirm: str
    """The button."""
    given: str
    """Title."""
    answered: str
    """Title."""
    answered_at: str
    closed: str
    """Title."""
    too_late: str
    gone: str
    """About a link that leads to no question."""
    expired: str
    sample: str


ANSWER_TEXTS: Final = {
    "en": AnswerTexts(
        title="Confirm your answer",
        your_answer="Your answer:",
        answering_as="You answer as:",
        confirm="Give this answer",
        given="Your answer was given",
        answered="This question has been answered",
        answered_at="It was answered on:",
        closed="This question is closed",
        too_late="It can no longer be answered. Nothing was changed.",
        gone="It may be incomplete, or the question no longer exists. Nothing was changed.",
        expired="This link is too old. Nothing was changed.",
        sample="This is a sample. The links of messages that are sent lead here, and let people confirm their answer.",
    ),
    "de": AnswerTexts(
        title="Antwort bestätigen",
        your_answer="Ihre Antwort:",
        answering_as="Sie antworten als:",
        confirm="Diese Antwort geben",
        given="Ihre Antwort wurde gegeben",
        answered="Diese Frage wurde beantwortet",
        answered_at="Sie wurde beantwortet am:",
        closed="Diese Frage ist geschlossen",
        too_late="Sie kann nicht mehr beantwortet werden. Es wurde nichts geändert.",
        gone="Vielleicht ist der Link unvollständig, oder es gibt die Frage nicht mehr. Es wurde nichts geändert.",
        expired="Dieser Link ist zu alt. Es wurde nichts geändert.",
        sample="Dies ist ein Beispiel. Die Links in versendeten Nachrichten führen hierher, um eine Antwort zu "
        "bestätigen.",
    ),
    "fr": AnswerTexts(
        title="Confirmer votre réponse",
        your_answer="Votre réponse :",
        answering_as="Vous répondez en tant que :",
        confirm="Donner cette réponse",
        given="Votre réponse a été donnée",
        answered="Cette question a reçu une réponse",
        answered_at="Elle a reçu une réponse le :",
        closed="Cette question est close",
        too_late="Il n’est plus possible d’y répondre. Rien n’a été modifié.",
        gone="Le lien est peut-être incomplet, ou la question n’existe plus. Rien n’a été modifié.",
        expired="Ce lien est trop ancien. Rien n’a été modifié.",
        sample="Ceci est un exemple. Les liens des messages envoyés mènent ici, pour confirmer une réponse.",
    ),
    "es": AnswerTexts(
        title="Confirmar su respuesta",
        your_answer="Su respuesta:",
        answering_as="Responde como:",
        confirm="Dar esta respuesta",
        given="Su respuesta se ha registrado",
        answered="Esta pregunta ya tiene respuesta",
        answered_at="Se respondió el:",
        closed="Esta pregunta está cerrada",
        too_late="Ya no se puede responder. No se ha cambiado nada.",
        gone="Puede que el enlace esté incompleto o que la pregunta ya no exista. No se ha cambiado nada.",
        expired="Este enlace es demasiado antiguo. No se ha cambiado nada.",
        sample="Esto es un ejemplo. Los enlaces de los mensajes enviados llevan aquí para confirmar una respuesta.",
    ),
    "pt": AnswerTexts(
        title="Confirmar a sua resposta",
        your_answer="A sua resposta:",
        answering_as="Responde como:",
        confirm="Dar esta resposta",
        given="A sua resposta foi registada",
        answered="Esta pergunta já foi respondida",
        answered_at="Foi respondida em:",
        closed="Esta pergunta está encerrada",
        too_late="Já não é possível responder. Nada foi alterado.",
        gone="A ligação pode estar incompleta, ou a pergunta já não existe. Nada foi alterado.",
        expired="Esta ligação é demasiado antiga. Nada foi alterado.",
        sample="Isto é um exemplo. As ligações das mensagens enviadas levam aqui, para confirmar uma resposta.",
    ),
    "it": AnswerTexts(
        title="Confermare la risposta",
        your_answer="La Sua risposta:",
        answering_as="Risponde come:",
        confirm="Dare questa risposta",
        given="La Sua risposta è stata registrata",
        answered="Questa domanda ha già una risposta",
        answered_at="La risposta è stata data il:",
        closed="Questa domanda è chiusa",
        too_late="Non è più possibile rispondere. Non è stato modificato nulla.",
        gone="Il link potrebbe essere incompleto, o la domanda non esiste più. Non è stato modificato nulla.",
        expired="Questo link è troppo vecchio. Non è stato modificato nulla.",
        sample="Questo è un esempio. I link dei messaggi inviati portano qui, per confermare una risposta.",
    ),
    "nl": AnswerTexts(
        title="Uw antwoord bevestigen",
        your_answer="Uw antwoord:",
        answering_as="U antwoordt als:",
        confirm="Dit antwoord geven",
        given="Uw antwoord is gegeven",
        answered="Deze vraag is beantwoord",
        answered_at="De vraag is beantwoord op:",
        closed="Deze vraag is gesloten",
        too_late="De vraag kan niet meer worden beantwoord. Er is niets gewijzigd.",
        gone="Misschien is de link onvolledig, of bestaat de vraag niet meer. Er is niets gewijzigd.",
        expired="Deze link is te oud. Er is niets gewijzigd.",
        sample="Dit is een voorbeeld. De links in verzonden berichten leiden hierheen, om een antwoord te bevestigen.",
    ),
    "ar": AnswerTexts(
        title="تأكيد إجابتك",
        your_answer="إجابتك:",
        answering_as="أنت تجيب بصفتك:",
        confirm="إرسال هذه الإجابة",
        given="تم تسجيل إجابتك",
        answered="تمت الإجابة عن هذا السؤال",
        answered_at="تمت الإجابة عنه في:",
        closed="هذا السؤال مغلق",
        too_late="لم تعد الإجابة عنه ممكنة. لم يتغير شيء.",
        gone="قد يكون الرابط غير مكتمل، أو أن السؤال لم يعد موجودًا. لم يتغير شيء.",
        expired="هذا الرابط قديم جدًا. لم يتغير شيء.",
        sample="هذا مثال. الروابط في الرسائل المرسلة تؤدي إلى هنا لتأكيد الإجابة.",
    ),
}
