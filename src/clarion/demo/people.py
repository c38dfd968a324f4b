"""The people of Larkspur Cycles, staff and customers. Their addresses and numbers are
reserved for examples. Only some countries have such numbers, so many people have a British or an American one.
"""

from typing import Any

Person = dict[str, Any]
"""A subscriber in the words of the API."""

STAFF = "staff"
CLUB = "club"
FREE = "free"


def _person(name: str, locale: str, timezone: str | None, plan: str, city: str, **more: Any) -> Person:
    """A person with an address of their own, unless `email` says otherwise; `key` is the first name by default."""
    first, _, last = name.partition(" ")
    key = more.pop("key", first.lower())
    return {
        "subscriberId": key,
        "firstName": first,
        "lastName": last,
        "email": f"{key}@example.com",
        "locale": locale,
        **({"timezone": timezone} if timezone else {}),
        "data": {"plan": plan, "city": city},
        **more,
    }


PEOPLE: list[Person] = [
    _person("Ada Lindqvist", "sv-SE", "Europe/Stockholm", STAFF, "Stockholm", phone="+46701740605"),
    _person("Mina Park", "ko-KR", "Asia/Seoul", STAFF, "Seoul", phone="+12025550101"),
    _person("Tobias Brandt", "de-DE", "Europe/Berlin", STAFF, "Berlin", phone="+4917139200012"),
    _person("Leila Haddad", "ar-EG", "Africa/Cairo", STAFF, "Cairo", key="leila", phone="+447700900102"),
    _person("Owen Price", "en-GB", "Europe/London", STAFF, "Leeds", phone="+447700900142"),
    _person("Camille Moreau", "fr-FR", "Europe/Paris", STAFF, "Lyon", phone="+33639980117"),
    _person("Ravi Menon", "en-IN", "Asia/Kolkata", STAFF, "Kochi", phone="+447700900103"),
    _person("Grace Otieno", "en-KE", "Africa/Nairobi", STAFF, "Nairobi", phone="+447700900104"),
    # Names in scripts that are read from right to left.
    _person("يوسف منصور", "ar-EG", "Africa/Cairo", CLUB, "القاهرة", key="youssef", phone="+447700900110"),
    _person("نور الخطيب", "ar-JO", "Asia/Amman", CLUB, "عمّان", key="noor", phone="+12025550111"),
    _person("سارة بن علي", "ar-MA", "Africa/Casablanca", FREE, "الدار البيضاء", key="sara"),
    _person("דניאל לוי", "he-IL", "Asia/Jerusalem", CLUB, "חיפה", key="daniel", phone="+12025550112"),
    _person("תמר כהן", "he-IL", "Asia/Jerusalem", FREE, "תל אביב", key="tamar"),
    _person("مریم کریمی", "fa-IR", "Asia/Tehran", FREE, "شیراز", key="maryam"),
    _person("葵 高橋", "ja-JP", "Asia/Tokyo", CLUB, "東京", key="aoi", phone="+12025550113"),
    _person("健 佐藤", "ja-JP", "Asia/Tokyo", FREE, "大阪", key="ken"),
    _person("小雨 王", "zh-CN", "Asia/Shanghai", CLUB, "上海", key="xiaoyu", phone="+12025550114"),
    _person("家豪 陳", "zh-TW", "Asia/Taipei", FREE, "台北", key="kaho"),
    _person("서연 김", "ko-KR", "Asia/Seoul", CLUB, "부산", key="seoyeon", phone="+12025550115"),
    _person("Олена Шевчук", "uk-UA", "Europe/Kyiv", CLUB, "Київ", key="olena", phone="+447700900116"),
    _person("Богдан Мельник", "uk-UA", "Europe/Kyiv", FREE, "Львів", key="bohdan"),
    _person("Ελένη Παππά", "el-GR", "Europe/Athens", CLUB, "Αθήνα", key="eleni", phone="+447700900117"),
    _person("अनन्या शर्मा", "hi-IN", "Asia/Kolkata", CLUB, "जयपुर", key="ananya", phone="+12025550118"),
    _person("สมชาย ใจดี", "th-TH", "Asia/Bangkok", FREE, "เชียงใหม่", key="somchai"),
    _person("Lan Nguyễn", "vi-VN", "Asia/Ho_Chi_Minh", FREE, "Đà Nẵng", key="lan"),
    _person("Jonas Weber", "de-DE", "Europe/Berlin", CLUB, "Hamburg", phone="+4917139200031"),
    _person("Katharina Vogel", "de-DE", "Europe/Berlin", CLUB, "Berlin", phone="+4917139200044"),
    _person("Lukas Gruber", "de-AT", "Europe/Vienna", FREE, "Graz", phone="+447700900119"),
    _person("Sofia Keller", "de-CH", "Europe/Zurich", CLUB, "Basel", phone="+447700900120"),
    _person("Emma Johansson", "sv-SE", "Europe/Stockholm", FREE, "Uppsala", phone="+46701740612"),
    _person("Mikkel Sørensen", "da-DK", "Europe/Copenhagen", CLUB, "Aarhus", phone="+447700900121"),
    _person("Aino Virtanen", "fi-FI", "Europe/Helsinki", FREE, "Tampere", phone="+447700900122"),
    _person("Ingrid Haugen", "nb-NO", "Europe/Oslo", CLUB, "Bergen", phone="+447700900123"),
    _person("Thomas Wright", "en-GB", "Europe/London", CLUB, "Bristol", phone="+447700900163"),
    _person("Amelia Clarke", "en-GB", "Europe/London", FREE, "York", phone="+447700900178"),
    _person("Harriet Boyle", "en-IE", "Europe/Dublin", CLUB, "Cork", email=None, phone="+447700900181"),
    _person("Marcus Reed", "en-US", "America/Chicago", CLUB, "Chicago", phone="+12025550143"),
    _person("Olivia Torres", "en-US", "America/Los_Angeles", FREE, "Portland", phone="+12025550156"),
    _person("Ethan Brooks", "en-US", "America/New_York", CLUB, "Boston", phone="+12025550161"),
    _person("Naomi Jackson", "en-US", "America/Denver", FREE, "Denver", phone="+12025550174"),
    _person("Liam Fraser", "en-CA", "America/Toronto", CLUB, "Toronto", phone="+12025550188"),
    _person("Chloé Tremblay", "fr-CA", "America/Montreal", FREE, "Montréal", key="chloe", phone="+12025550124"),
    _person("Julien Lefèvre", "fr-FR", "Europe/Paris", CLUB, "Nantes", phone="+33639980142"),
    _person("Inès Garnier", "fr-FR", "Europe/Paris", FREE, "Lille", key="ines", phone="+33639980155"),
    _person("Lucía Navarro", "es-ES", "Europe/Madrid", CLUB, "Sevilla", key="lucia", phone="+447700900125"),
    _person("Mateo Fernández", "es-MX", "America/Mexico_City", FREE, "Puebla"),
    _person("Valentina Rojas", "es-CO", "America/Bogota", CLUB, "Medellín", phone="+12025550126"),
    _person("Thiago Almeida", "pt-BR", "America/Sao_Paulo", CLUB, "Curitiba", phone="+12025550127"),
    _person("Beatriz Nunes", "pt-PT", "Europe/Lisbon", FREE, "Porto", phone="+447700900128"),
    _person("Giulia Ferraro", "it-IT", "Europe/Rome", CLUB, "Torino", phone="+447700900129"),
    _person("Zofia Kowalska", "pl-PL", "Europe/Warsaw", CLUB, "Kraków", phone="+447700900130"),
    _person("Petr Novák", "cs-CZ", "Europe/Prague", FREE, "Brno"),
    _person("Elif Demir", "tr-TR", "Europe/Istanbul", CLUB, "İzmir", phone="+447700900131"),
    _person("Amara Okafor", "en-NG", "Africa/Lagos", CLUB, "Lagos", phone="+447700900132"),
    _person("Kwame Mensah", "en-GH", "Africa/Accra", FREE, "Accra", phone="+447700900133"),
    _person("Zanele Dlamini", "en-ZA", "Africa/Johannesburg", CLUB, "Durban", phone="+447700900134"),
    _person("Jack Sullivan", "en-AU", "Australia/Sydney", CLUB, "Sydney", phone="+61491570156"),
    _person("Ruby Walker", "en-NZ", "Pacific/Auckland", FREE, "Wellington", phone="+447700900135"),
    # Without an e-mail address, and without anything but the inbox.
    _person("Arjun Patel", "en-IN", None, FREE, "Pune", email=None),
    _person("Hana Suzuki", "ja-JP", None, FREE, "札幌", email=None),
]

KEYS = [one["subscriberId"] for one in PEOPLE]
STAFF_KEYS = [one["subscriberId"] for one in PEOPLE if one["data"]["plan"] == STAFF]
CUSTOMER_KEYS = [one["subscriberId"] for one in PEOPLE if one["data"]["plan"] != STAFF]
CLUB_KEYS = [one["subscriberId"] for one in PEOPLE if one["data"]["plan"] == CLUB]

TOPICS: dict[str, tuple[str, list[str]]] = {
    "workshop-team": ("Workshop team", STAFF_KEYS),
    "on-call": ("On call this week", ["owen", "grace", "tobias"]),
    "club-members": ("Larkspur Club", CLUB_KEYS),
    "newsletter": ("Newsletter", CUSTOMER_KEYS[::2] + CUSTOMER_KEYS[1::4]),
    "shop-berlin": ("Friends of the Berlin shop", ["tobias", "jonas", "katharina", "zofia", "petr", "lukas"]),
}
"""Name and members of each topic, by key."""

_WITHOUT_APP = frozenset({"harriet", "petr", "kaho", "ken", "naomi", "beatriz", "mateo", "arjun", "hana"})
DEVICES = {
    key: [f"{number:08x}-5e1f-4c00-9d00-000000000{number:03x}"]
    for number, key in enumerate(KEYS, 160)
    if key not in _WITHOUT_APP
}
"""Devices for push, as the vendor names them."""
DEVICES["marcus"].append("000000ff-5e1f-4c00-9d00-0000000000ff")
LOST_DEVICE = DEVICES["marcus"][-1]
"""An old phone, which the vendor does not know any more."""

CHAT_URLS = {
    key: f"https://hooks.slack.com/services/T0LARKSPUR/B0{number:08d}/example{number}"
    for number, key in enumerate(STAFF_KEYS, 1)
}
LEFT_CHAT = CHAT_URLS["ravi"]
"""The address of somebody whose chat account was closed."""

PREFERENCES: dict[str, list[dict[str, Any]]] = {
    "thomas": [{"channels": {"email": False}}],
    "noor": [{"channels": {"email": False}}],
    "emma": [{"channels": {"sms": False}}],
    "marcus": [{"workflowId": "newsletter", "channels": {"email": False}}],
    "giulia": [{"workflowId": "newsletter", "channels": {"email": False}}],
    "ethan": [{"workflowId": "order-shipped", "channels": {"push": False, "sms": False}}],
    "aoi": [{"workflowId": "new-comment", "channels": {"email": False}}],
    "amara": [{"workflowId": "new-comment", "channels": {"in_app": False, "email": False}}],
    "elif": [{"channels": {"push": False}}],
    "mina": [{"workflowId": "stock-alert", "channels": {"chat": False, "push": False}}],
}
"""What people switched off: everything of a channel, or the channels of one workflow."""

_OFFICE_HOURS = {"isEnabled": True, "hours": [{"start": "08:00 AM", "end": "06:00 PM"}]}
SCHEDULES = {
    "katharina": {
        "isEnabled": True,
        "weeklySchedule": dict.fromkeys(("monday", "tuesday", "wednesday", "thursday", "friday"), _OFFICE_HOURS),
    }
}
"""When people want messages."""
