"""Layouts for tests, through HTTP."""

from typing import Any

from tests.support import Api

HTML = "<!DOCTYPE html><html><body><h1>The shop</h1>{{content}}<p>For {{subscriber.firstName}}</p></body></html>"


async def make_layout(
    api: Api, key: str = "newsletter", body: str | None = HTML, *, name: str = "Newsletter", **fields: Any
) -> dict[str, Any]:
    """A layout with an HTML body, or as it is made if the body is None."""
    response = await api.post("/v2/layouts", json={"layoutId": key, "name": name, **fields})
    assert response.status_code == 201, response.text
    made: dict[str, Any] = response.json()
    return made if body is None else await save_body(api, made["layoutId"], body, name=name)


async def save_body(api: Api, key: str, body: str, *, name: str = "Newsletter") -> dict[str, Any]:
    values = {"email": {"body": body, "editorType": "html"}}
    response = await api.put(f"/v2/layouts/{key}", json={"name": name, "controlValues": values})
    assert response.status_code == 200, response.text
    saved: dict[str, Any] = response.json()
    return saved


def mail(layout: str | None = "newsletter", body: str = "<p>Hi {{payload.name}}</p>", **fields: Any) -> dict[str, Any]:
    """An e-mail step."""
    values = {"subject": "News", "body": body, "editorType": "html", "layoutId": layout}
    return {"name": "Mail", "stepId": "mail", "type": "email", "controlValues": values, **fields}
