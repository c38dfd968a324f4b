"""What the page on the phone and the bot say, in the languages of the other pages."""

from typing import Final

from msgspec import Struct


class BotTexts(Struct, frozen=True, kw_only=True):
    """All texts; names and reasons of Telegram stand beside them, never in them."""

    title: str
    ask: str
    token: str
    """The label of the field."""
    connect: str
    """The button."""
    connected: str
    open_chat: str
    """The link to the bot."""
    no_webhook: str
    not_token: str
    refused: str
    unreachable: str
    invalid: str
    """The title of the page for links that do not work."""
    ask_again: str
    too_many: str
    linked: str
    """What the bot says in a chat that was connected."""
    taken: str
    """What the bot says if another chat is connected."""
    failed: str
    """What both say where more cannot be told to whoever is there."""
    is_right_to_left: bool = False


TEXTS: Final = {
    "en": BotTexts(
        title="Connect a Telegram bot",
        ask="Open @BotFather in Telegram, create a bot or choose one, and paste its token here.",
        token="Token of the bot",  # noqa: S106 - a label
        connect="Connect",
        connected="The bot is connected. You can close this page.",
        open_chat="Open the chat with the bot",
        no_webhook="Its messages are not reported yet. Whoever gave you this link can set that up.",
        not_token="This is not the token of a bot. It looks like 123456789:AAE…",  # noqa: S106 - a sentence
        refused="Telegram does not accept this token.",
        unreachable="Telegram could not be reached. Please try again.",
        invalid="This link is not valid",
        ask_again="It was used, or is too old. Please ask for a new one.",
        too_many="There are too many requests at the moment. Please try again later.",
        linked="You are connected. Messages will arrive in this chat.",
        taken="Another chat is connected already, and this link cannot replace it.",
        failed="This did not work. Please ask whoever gave you the link.",
    ),
    "de": BotTexts(
        title="Telegram-Bot verbinden",
        ask="Öffnen Sie @BotFather in Telegram, legen Sie einen Bot an oder wählen Sie einen aus, und fügen Sie hier "
        "sein Token ein.",
        token="Token des Bots",  # noqa: S106 - a label
        connect="Verbinden",
        connected="Der Bot ist verbunden. Sie können diese Seite schließen.",
        open_chat="Chat mit dem Bot öffnen",
        no_webhook="Seine Nachrichten werden noch nicht gemeldet. Wer Ihnen diesen Link gab, kann das einrichten.",
        not_token="Das ist kein Token eines Bots. Es sieht aus wie 123456789:AAE…",  # noqa: S106 - a sentence
        refused="Telegram nimmt dieses Token nicht an.",
        unreachable="Telegram war nicht erreichbar. Bitte versuchen Sie es noch einmal.",
        invalid="Dieser Link ist ungültig",
        ask_again="Er wurde verwendet oder ist zu alt. Bitte lassen Sie sich einen neuen geben.",
        too_many="Zurzeit gibt es zu viele Anfragen. Bitte versuchen Sie es später noch einmal.",
        linked="Sie sind verbunden. Nachrichten kommen in diesem Chat an.",
        taken="Ein anderer Chat ist schon verbunden, und dieser Link kann ihn nicht ersetzen.",
        failed="Das hat nicht geklappt. Bitte wenden Sie sich an die Person, von der Sie den Link haben.",
    ),
    "fr": BotTexts(
        title="Connecter un bot Telegram",
        ask="Ouvrez @BotFather dans Telegram, créez ou choisissez un bot, et collez son jeton ici.",
        token="Jeton du bot",  # noqa: S106 - a label
        connect="Connecter",
        connected="Le bot est connecté. Vous pouvez fermer cette page.",
        open_chat="Ouvrir la discussion avec le bot",
        no_webhook="Ses messages ne sont pas encore transmis. La personne qui vous a donné ce lien peut le configurer.",
        not_token="Ce n’est pas le jeton d’un bot. Il ressemble à 123456789:AAE…",  # noqa: S106 - a sentence
        refused="Telegram n’accepte pas ce jeton.",
        unreachable="Telegram est injoignable. Veuillez réessayer.",
        invalid="Ce lien n’est pas valide",
        ask_again="Il a été utilisé ou il est trop ancien. Veuillez en demander un nouveau.",
        too_many="Il y a trop de requêtes en ce moment. Veuillez réessayer plus tard.",
        linked="Vous êtes connecté. Les messages arriveront dans cette discussion.",
        taken="Une autre discussion est déjà connectée, et ce lien ne peut pas la remplacer.",
        failed="Cela n’a pas fonctionné. Veuillez vous adresser à la personne qui vous a donné le lien.",
    ),
    "es": BotTexts(
        title="Conectar un bot de Telegram",
        ask="Abra @BotFather en Telegram, cree o elija un bot, y pegue aquí su token.",
        token="Token del bot",  # noqa: S106 - a label
        connect="Conectar",
        connected="El bot está conectado. Puede cerrar esta página.",
        open_chat="Abrir el chat con el bot",
        no_webhook="Sus mensajes todavía no se notifican. Quien le dio este enlace puede configurarlo.",
        not_token="Esto no es el token de un bot. Se parece a 123456789:AAE…",  # noqa: S106 - a sentence
        refused="Telegram no acepta este token.",
        unreachable="No se pudo contactar con Telegram. Inténtelo de nuevo.",
        invalid="Este enlace no es válido",
        ask_again="Ya se usó o es demasiado antiguo. Pida uno nuevo.",
        too_many="Hay demasiadas solicitudes en este momento. Inténtelo más tarde.",
        linked="Está conectado. Los mensajes llegarán a este chat.",
        taken="Ya hay otro chat conectado, y este enlace no puede sustituirlo.",
        failed="No ha funcionado. Consulte a quien le dio el enlace.",
    ),
    "pt": BotTexts(
        title="Conectar um bot do Telegram",
        ask="Abra o @BotFather no Telegram, crie ou escolha um bot, e cole aqui o token dele.",
        token="Token do bot",  # noqa: S106 - a label
        connect="Conectar",
        connected="O bot está conectado. Pode fechar esta página.",
        open_chat="Abrir a conversa com o bot",
        no_webhook="As mensagens dele ainda não são comunicadas. Quem lhe deu este link pode configurar isso.",
        not_token="Isto não é o token de um bot. Ele parece-se com 123456789:AAE…",  # noqa: S106 - a sentence
        refused="O Telegram não aceita este token.",
        unreachable="Não foi possível contactar o Telegram. Tente novamente.",
        invalid="Este link não é válido",
        ask_again="Já foi usado ou é demasiado antigo. Peça um novo.",
        too_many="Há demasiados pedidos neste momento. Tente mais tarde.",
        linked="Está conectado. As mensagens chegarão a esta conversa.",
        taken="Outra conversa já está conectada, e este link não a pode substituir.",
        failed="Não funcionou. Fale com quem lhe deu o link.",
    ),
    "it": BotTexts(
        title="Collegare un bot di Telegram",
        ask="Apra @BotFather in Telegram, crei o scelga un bot, e incolli qui il suo token.",
        token="Token del bot",  # noqa: S106 - a label
        connect="Collega",
        connected="Il bot è collegato. Può chiudere questa pagina.",
        open_chat="Apri la chat con il bot",
        no_webhook="I suoi messaggi non vengono ancora segnalati. Chi le ha dato questo link può configurarlo.",
        not_token="Questo non è il token di un bot. È simile a 123456789:AAE…",  # noqa: S106 - a sentence
        refused="Telegram non accetta questo token.",
        unreachable="Telegram non è raggiungibile. Riprovi.",
        invalid="Questo link non è valido",
        ask_again="È già stato usato o è troppo vecchio. Ne chieda uno nuovo.",
        too_many="Al momento ci sono troppe richieste. Riprovi più tardi.",
        linked="È collegato. I messaggi arriveranno in questa chat.",
        taken="Un’altra chat è già collegata, e questo link non può sostituirla.",
        failed="Non ha funzionato. Si rivolga a chi le ha dato il link.",
    ),
    "nl": BotTexts(
        title="Een Telegram-bot verbinden",
        ask="Open @BotFather in Telegram, maak of kies een bot, en plak hier zijn token.",
        token="Token van de bot",  # noqa: S106 - a label
        connect="Verbinden",
        connected="De bot is verbonden. U kunt deze pagina sluiten.",
        open_chat="De chat met de bot openen",
        no_webhook="Zijn berichten worden nog niet gemeld. Wie u deze link gaf, kan dat instellen.",
        not_token="Dit is niet het token van een bot. Het lijkt op 123456789:AAE…",  # noqa: S106 - a sentence
        refused="Telegram accepteert dit token niet.",
        unreachable="Telegram was niet bereikbaar. Probeer het opnieuw.",
        invalid="Deze link is niet geldig",
        ask_again="Hij is gebruikt of te oud. Vraag om een nieuwe.",
        too_many="Er zijn op dit moment te veel verzoeken. Probeer het later opnieuw.",
        linked="U bent verbonden. Berichten komen in deze chat aan.",
        taken="Er is al een andere chat verbonden, en deze link kan die niet vervangen.",
        failed="Dat is niet gelukt. Vraag het aan degene van wie u de link hebt.",
    ),
    "ar": BotTexts(
        title="ربط بوت تيليجرام",
        ask="افتح @BotFather في تيليجرام، وأنشئ بوتًا أو اختر واحدًا، ثم الصق رمزه هنا.",
        token="رمز البوت",  # noqa: S106 - a label
        connect="ربط",
        connected="تم ربط البوت. يمكنك إغلاق هذه الصفحة.",
        open_chat="افتح المحادثة مع البوت",
        no_webhook="لا يتم الإبلاغ عن رسائله بعد. يمكن لمن أعطاك هذا الرابط إعداد ذلك.",
        not_token="هذا ليس رمز بوت. يبدو الرمز هكذا: 123456789:AAE…",  # noqa: S106 - a sentence
        refused="لا يقبل تيليجرام هذا الرمز.",
        unreachable="تعذّر الوصول إلى تيليجرام. يُرجى المحاولة مرة أخرى.",
        invalid="هذا الرابط غير صالح",
        ask_again="لقد استُخدم أو انتهت صلاحيته. يُرجى طلب رابط جديد.",
        too_many="هناك طلبات كثيرة في الوقت الحالي. يُرجى المحاولة لاحقًا.",
        linked="تم الربط. ستصل الرسائل إلى هذه المحادثة.",
        taken="هناك محادثة أخرى مرتبطة بالفعل، ولا يمكن لهذا الرابط استبدالها.",
        failed="لم ينجح ذلك. يرجى التواصل مع من أعطاك الرابط.",
        is_right_to_left=True,
    ),
}
"""By language; the same languages as those of the pages for unsubscribing."""
