"""The texts of the pages in the languages that they have."""

import re
from typing import Final

from msgspec import Struct

from clarion.vocabulary import Channel

DEFAULT_LANGUAGE: Final = "en"
_ACCEPTED: Final = re.compile(r"\s*([A-Za-z]{2,3})(?:[-_][A-Za-z0-9]+)*\s*(?:;\s*q=([01](?:\.\d{0,3})?))?\s*(?:,|$)")
_MAX_ACCEPTED: Final = 200


class PageTexts(Struct, frozen=True, kw_only=True):
    """All that the pages say; names of workflows stand beside these texts, never in them."""

    unsubscribe: str
    """Title and button."""
    ask: str
    unsubscribed: str
    no_longer: str
    subscribe_again: str
    subscribed: str
    will_get: str
    choose: str
    """The link to the other page."""
    messages: str
    """Title of the other page."""
    introduction: str
    save: str
    saved: str
    always: str
    nothing: str
    invalid: str
    """Title."""
    try_latest: str
    sample: str
    not_read: str
    too_many: str
    in_app: str
    email: str
    sms: str
    chat: str
    push: str
    tool: str
    is_right_to_left: bool = False

    def name_of(self, channel: Channel) -> str:
        name: str = getattr(self, channel.value)
        return name


def choose_language(locale: str | None, accepted: str, default_locale: str) -> str:
    """Choose the person's language, else the one that the browser prefers, else that of the environment."""
    asked = [locale or "", *_list_accepted(accepted), default_locale]
    languages = (re.split(r"[-_]", one)[0].lower() for one in asked)
    return next((one for one in languages if one in TEXTS), DEFAULT_LANGUAGE)


def _list_accepted(header: str) -> list[str]:
    """List the languages of an Accept-Language header, best first."""
    found = _ACCEPTED.findall(header[:_MAX_ACCEPTED])
    wanted = [(float(quality or 1), language) for language, quality in found if float(quality or 1) > 0]
    return [language for _, language in sorted(wanted, key=lambda one: -one[0])]


_ENGLISH: Final = PageTexts(
    unsubscribe="Unsubscribe",
    ask="Do you no longer want to get these messages?",
    unsubscribed="You are unsubscribed",
    no_longer="You will no longer get these messages:",
    subscribe_again="Subscribe again",
    subscribed="You are subscribed",
    will_get="You will get these messages:",
    choose="Choose which messages you get",
    messages="Your messages",
    introduction="Choose which messages you want to get, and how.",
    save="Save",
    saved="Your choices are saved.",
    always="You always get these messages, because they are important:",
    nothing="There is nothing to choose at the moment.",
    invalid="This link is not valid",
    try_latest="It may be incomplete, or about messages that no longer exist. Try the link in your latest message.",
    sample="This is a sample. The links of messages that are sent lead here, and let people unsubscribe.",
    not_read="The form could not be read, and nothing was changed. Please go back and try again.",
    too_many="There are too many requests at the moment. Please try again later.",
    in_app="In the app",
    email="E-mail",
    sms="SMS",
    chat="Chat",
    push="Push notification",
    tool="Tool",
)
_GERMAN: Final = PageTexts(
    unsubscribe="Abbestellen",
    ask="Möchten Sie diese Nachrichten nicht mehr erhalten?",
    unsubscribed="Sie haben sich abgemeldet",
    no_longer="Diese Nachrichten erhalten Sie nicht mehr:",
    subscribe_again="Wieder bestellen",
    subscribed="Sie sind angemeldet",
    will_get="Diese Nachrichten erhalten Sie:",
    choose="Nachrichten auswählen",
    messages="Ihre Nachrichten",
    introduction="Wählen Sie, welche Nachrichten Sie erhalten möchten, und auf welchem Weg.",
    save="Speichern",
    saved="Ihre Auswahl ist gespeichert.",
    always="Diese Nachrichten erhalten Sie immer, weil sie wichtig sind:",
    nothing="Zurzeit gibt es nichts auszuwählen.",
    invalid="Dieser Link ist ungültig",
    try_latest="Er ist unvollständig, oder es gibt diese Nachrichten nicht mehr. Versuchen Sie es mit dem Link in "
    "Ihrer neuesten Nachricht.",
    sample="Dies ist ein Beispiel. Die Links in versandten Nachrichten führen hierher, zum Abbestellen.",
    not_read="Das Formular war nicht lesbar, und nichts wurde geändert. Bitte versuchen Sie es noch einmal.",
    too_many="Zurzeit gibt es zu viele Anfragen. Bitte versuchen Sie es später noch einmal.",
    in_app="In der App",
    email="E-Mail",
    sms="SMS",
    chat="Chat",
    push="Push-Mitteilung",
    tool="Werkzeug",
)
_FRENCH: Final = PageTexts(
    unsubscribe="Se désabonner",
    ask="Ne souhaitez-vous plus recevoir ces messages ?",
    unsubscribed="Vous êtes désabonné",
    no_longer="Vous ne recevrez plus ces messages :",
    subscribe_again="Se réabonner",
    subscribed="Vous êtes abonné",
    will_get="Vous recevrez ces messages :",
    choose="Choisir les messages à recevoir",
    messages="Vos messages",
    introduction="Choisissez les messages que vous souhaitez recevoir, et par quel moyen.",
    save="Enregistrer",
    saved="Vos choix sont enregistrés.",
    always="Vous recevez toujours ces messages, car ils sont importants :",
    nothing="Il n'y a rien à choisir pour le moment.",
    invalid="Ce lien n'est pas valable",
    try_latest="Il est peut-être incomplet, ou ces messages n'existent plus. Essayez le lien de votre dernier message.",
    sample="Ceci est un exemple. Les liens des messages envoyés mènent ici et permettent de se désabonner.",
    not_read="Le formulaire n'a pas pu être lu, et rien n'a été modifié. Veuillez réessayer.",
    too_many="Il y a trop de demandes en ce moment. Veuillez réessayer plus tard.",
    in_app="Dans l'application",
    email="E-mail",
    sms="SMS",
    chat="Chat",
    push="Notification push",
    tool="Outil",
)
_SPANISH: Final = PageTexts(
    unsubscribe="Cancelar la suscripción",
    ask="¿Ya no quiere recibir estos mensajes?",
    unsubscribed="Suscripción cancelada",
    no_longer="Ya no recibirá estos mensajes:",
    subscribe_again="Volver a suscribirse",
    subscribed="Suscripción activa",
    will_get="Recibirá estos mensajes:",
    choose="Elegir qué mensajes recibir",
    messages="Sus mensajes",
    introduction="Elija qué mensajes quiere recibir, y por qué medio.",
    save="Guardar",
    saved="Sus preferencias se han guardado.",
    always="Siempre recibe estos mensajes, porque son importantes:",
    nothing="Por el momento no hay nada que elegir.",
    invalid="Este enlace no es válido",
    try_latest="Puede que esté incompleto o que esos mensajes ya no existan. Pruebe el enlace de su último mensaje.",
    sample="Esto es un ejemplo. Los enlaces de los mensajes enviados llevan aquí y permiten cancelar la suscripción.",
    not_read="No se pudo leer el formulario y no se cambió nada. Inténtelo de nuevo.",
    too_many="Hay demasiadas solicitudes en este momento. Inténtelo más tarde.",
    in_app="En la aplicación",
    email="Correo electrónico",
    sms="SMS",
    chat="Chat",
    push="Notificación push",
    tool="Herramienta",
)
_PORTUGUESE: Final = PageTexts(
    unsubscribe="Cancelar a subscrição",
    ask="Já não quer receber estas mensagens?",
    unsubscribed="Subscrição cancelada",
    no_longer="Deixará de receber estas mensagens:",
    subscribe_again="Voltar a subscrever",
    subscribed="Subscrição ativa",
    will_get="Receberá estas mensagens:",
    choose="Escolher que mensagens receber",
    messages="As suas mensagens",
    introduction="Escolha que mensagens quer receber, e por que meio.",
    save="Guardar",
    saved="As suas escolhas foram guardadas.",
    always="Recebe sempre estas mensagens, porque são importantes:",
    nothing="De momento não há nada para escolher.",
    invalid="Esta ligação não é válida",
    try_latest="Pode estar incompleta, ou essas mensagens já não existem. Tente a ligação da sua última mensagem.",
    sample="Isto é um exemplo. As ligações das mensagens enviadas vêm dar aqui e permitem cancelar a subscrição.",
    not_read="Não foi possível ler o formulário, e nada foi alterado. Tente novamente.",
    too_many="Há demasiados pedidos neste momento. Tente novamente mais tarde.",
    in_app="Na aplicação",
    email="E-mail",
    sms="SMS",
    chat="Chat",
    push="Notificação push",
    tool="Ferramenta",
)
_ITALIAN: Final = PageTexts(
    unsubscribe="Annulla l'iscrizione",
    ask="Non desidera più ricevere questi messaggi?",
    unsubscribed="Iscrizione annullata",
    no_longer="Non riceverà più questi messaggi:",
    subscribe_again="Iscriviti di nuovo",
    subscribed="Iscrizione attiva",
    will_get="Riceverà questi messaggi:",
    choose="Scegli quali messaggi ricevere",
    messages="I suoi messaggi",
    introduction="Scelga quali messaggi desidera ricevere, e in che modo.",
    save="Salva",
    saved="Le sue scelte sono state salvate.",
    always="Riceve sempre questi messaggi, perché sono importanti:",
    nothing="Al momento non c'è nulla da scegliere.",
    invalid="Questo link non è valido",
    try_latest="Forse è incompleto, o quei messaggi non esistono più. Provi il link del suo ultimo messaggio.",
    sample="Questo è un esempio. I link dei messaggi inviati portano qui e permettono di annullare l'iscrizione.",
    not_read="Non è stato possibile leggere il modulo e nulla è stato modificato. Riprovi.",
    too_many="Al momento ci sono troppe richieste. Riprovi più tardi.",
    in_app="Nell'app",
    email="E-mail",
    sms="SMS",
    chat="Chat",
    push="Notifica push",
    tool="Strumento",
)
_DUTCH: Final = PageTexts(
    unsubscribe="Afmelden",
    ask="Wilt u deze berichten niet meer ontvangen?",
    unsubscribed="U bent afgemeld",
    no_longer="U ontvangt deze berichten niet meer:",
    subscribe_again="Opnieuw aanmelden",
    subscribed="U bent aangemeld",
    will_get="U ontvangt deze berichten:",
    choose="Kiezen welke berichten u ontvangt",
    messages="Uw berichten",
    introduction="Kies welke berichten u wilt ontvangen, en op welke manier.",
    save="Opslaan",
    saved="Uw keuzes zijn opgeslagen.",
    always="Deze berichten ontvangt u altijd, omdat ze belangrijk zijn:",
    nothing="Er valt op dit moment niets te kiezen.",
    invalid="Deze link is niet geldig",
    try_latest="Misschien is de link onvolledig, of bestaan deze berichten niet meer. Probeer de link in uw laatste "
    "bericht.",
    sample="Dit is een voorbeeld. De links in verzonden berichten leiden hierheen, om u af te melden.",
    not_read="Het formulier kon niet worden gelezen, en er is niets gewijzigd. Probeer het opnieuw.",
    too_many="Er zijn op dit moment te veel verzoeken. Probeer het later opnieuw.",
    in_app="In de app",
    email="E-mail",
    sms="Sms",
    chat="Chat",
    push="Pushmelding",
    tool="Hulpprogramma",
)
_ARABIC: Final = PageTexts(
    unsubscribe="إلغاء الاشتراك",
    ask="هل تريد التوقف عن تلقي هذه الرسائل؟",
    unsubscribed="تم إلغاء اشتراكك",
    no_longer="لن تتلقى هذه الرسائل بعد الآن:",
    subscribe_again="الاشتراك مرة أخرى",
    subscribed="أنت مشترك",
    will_get="ستتلقى هذه الرسائل:",
    choose="اختيار الرسائل التي تتلقاها",
    messages="رسائلك",
    introduction="اختر الرسائل التي تريد تلقيها وطريقة وصولها.",
    save="حفظ",
    saved="تم حفظ اختياراتك.",
    always="تتلقى هذه الرسائل دائمًا لأنها مهمة:",
    nothing="لا يوجد ما يمكن اختياره حاليًا.",
    invalid="هذا الرابط غير صالح",
    try_latest="قد يكون الرابط غير مكتمل، أو أن هذه الرسائل لم تعد موجودة. جرّب الرابط في أحدث رسالة لديك.",
    sample="هذا مثال. الروابط في الرسائل المرسلة تؤدي إلى هنا وتتيح إلغاء الاشتراك.",
    not_read="تعذّرت قراءة النموذج ولم يتغير شيء. يُرجى المحاولة مرة أخرى.",
    too_many="هناك طلبات كثيرة جدًا في الوقت الحالي. يُرجى المحاولة لاحقًا.",
    in_app="في التطبيق",
    email="البريد الإلكتروني",
    sms="رسالة نصية",
    chat="الدردشة",
    push="إشعار فوري",
    tool="أداة",
    is_right_to_left=True,
)

TEXTS: Final = {
    "en": _ENGLISH,
    "de": _GERMAN,
    "fr": _FRENCH,
    "es": _SPANISH,
    "pt": _PORTUGUESE,
    "it": _ITALIAN,
    "nl": _DUTCH,
    "ar": _ARABIC,
}
