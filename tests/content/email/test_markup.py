"""HTML and MJML bodies: Liquid survives, styles are inlined, and no value makes a link with another scheme."""

import pytest

from clarion.content.email.compose import (
    EditorType,
    EmailProblem,
    LayoutSource,
    compile_body,
    compile_email,
    has_slot,
)
from clarion.content.email.markup import clean_markup, explain_no_inlining
from clarion.content.email.scanning import MAX_DEPTH, is_too_deep
from clarion.templates import MAX_TEMPLATE
from tests.content.email.documents import make_document, make_node, paragraph, render, variable

MJML = (
    "<mjml>\n<mj-body><mj-section><mj-column>\n"
    "<mj-text>Hi {{ payload.name }}{% if payload.a < 3 %} few{% endif %}</mj-text>\n"
    '<mj-button href="{{ payload.url }}">Go</mj-button>\n'
    "<mj-raw>{% for item in payload.items %}<tr><td>{{ item }}</td></tr>{% endfor %}</mj-raw>\n"
    "</mj-column></mj-section></mj-body></mjml>"
)


def test_styles_are_inlined_and_rules_for_small_screens_stay() -> None:
    body = (
        "<style>td{padding:3px} .name{color:{{ payload.color }}} @media (max-width:400px){td{padding:0}}</style>"
        "<table>{% for item in payload.items %}<tr><td class=name>{{ item }}</td></tr>{% endfor %}</table>"
    )

    rendered = render(body, {"payload": {"items": ["<a>", "b"], "color": "red"}}, layout=None)

    assert rendered.count('<td class="name" style="padding: 3px;color: red;">') == 2
    assert "&lt;a&gt;</td>" in rendered
    assert "<style>@media (max-width:400px){td{padding:0}}" in rendered
    assert "<body" not in rendered


@pytest.mark.parametrize(
    "body",
    [
        "<p>No sheet, {{ payload.name }} & <b>all</p> as it is",
        "<style>p{color:red}</style><p {% if payload.x %}class=a{% endif %}>conditional attribute</p>",
        "<style>{% if payload.x %}p{color:red}{% endif %}</style><p>conditional rule</p>",
        "<style>p{color:red}</style><p>a tag that does not end <p",
        "<style>p{color:red}</style>" + "<div>" * (MAX_DEPTH + 1) + "too deep",
        "<style></style><p>empty sheet",
        "<style>" + "*{a:b}" * 1000 + "</style>" + "<i></i>" * 200,
    ],
)
def test_markup_that_cannot_be_inlined_safely_stays_as_it_is(body: str) -> None:
    assert clean_markup(body) == body


def test_a_whole_document_keeps_its_doctype_and_comments() -> None:
    body = (
        "<!DOCTYPE html><html lang=fr dir=ltr><head><style>p{color:red}</style></head><body>"
        "<!--[if mso]>{{ payload.x }}<![endif]--><!--{{ payload.y }}--><p>x</p></body></html>"
    )

    inlined = clean_markup(body)

    assert inlined.startswith("<!DOCTYPE html><html")
    assert "<!--[if mso]>{{ payload.x }}<![endif]--><!--{{ payload.y }}-->" in inlined
    assert '<p style="color: red;">' in inlined


def test_a_layout_keeps_its_style_sheet_for_what_stands_in_it() -> None:
    layout = LayoutSource(
        "<html><head><style>p{color:red}</style></head><body>{{content}}</body></html>", EditorType.HTML
    )

    rendered = render("<p>x</p>", {}, layout=layout)

    assert "<style>p{color:red}</style>" in rendered
    assert "<p>x</p>" in rendered


def test_a_whole_document_says_its_language_unless_it_does_so_itself() -> None:
    plain = render("<html><body>x</body></html>", {"locale": "he_IL"}, layout=None)
    own = render('<html lang="fr" dir="ltr"><body>x</body></html>', {"locale": "he_IL"}, layout=None)

    assert plain.startswith('<html lang="he-IL" dir="rtl">')
    assert own.startswith('<html lang="fr" dir="ltr">')


@pytest.mark.parametrize(
    ("written", "url", "href"),
    [
        ('"{{ payload.url }}"', "javascript:alert(1)", '""'),
        ("'{{payload.url}}/x'", "javascript:alert(1)", "''"),
        ('"{{payload.url}}{{payload.url}}"', "javascript", '"javascriptjavascript"'),
        ('"{% if payload.url %}{{payload.url}}{% endif %}"', "data:text/html,x", '""'),
        ('"{{ payload.url }}?a=1&section=2"', "https://x.y", '"https://x.y?a=1&section=2"'),
        ('"{{ payload.url }}"', 'https://x.y/"onclick="z', '"https://x.y/&#34;onclick=&#34;z"'),
        ('"https://x.y/{{ payload.url }}"', "javascript:x", '"https://x.y/javascript:x"'),
        ('"{{payload.url}}"', "cid:logo", '"cid:logo"'),
    ],
)
def test_no_value_decides_the_scheme_of_a_link(written: str, url: str, href: str) -> None:
    assert render(f"<a href={written}>x</a>", {"payload": {"url": url}}, layout=None) == f"<a href={href}>x</a>"


@pytest.mark.parametrize(
    ("tag", "quoted"),
    [
        ("<p class={{ payload.x }}>", '<p class="a onclick=b">'),
        ("<p class=b-{{ payload.x }}-{{ payload.x }} id=c>", '<p class="b-a onclick=b-a onclick=b" id=c>'),
        ("<a href={{payload.x}}>", '<a href="a onclick=b">'),
        ("<p title='{{ payload.x }}'>=", "<p title='a onclick=b'>="),
        ("<p>x={{ payload.x }} y", "<p>x=a onclick=b y"),
    ],
)
def test_a_value_without_quotes_gets_them(tag: str, quoted: str) -> None:
    assert render(tag, {"payload": {"x": "a onclick=b"}}, layout=None) == quoted


def test_mjml_becomes_html_and_keeps_its_liquid() -> None:
    payload = {"name": "<Ada>", "a": 1, "url": "javascript:x", "items": ["<1>", "2"]}

    rendered = render(MJML, {"payload": payload, "locale": "ar"}, EditorType.MJML, layout=None)

    assert "Hi &lt;Ada&gt; few</div>" in rendered
    assert '<a href="" target="_blank"' in rendered
    assert "<td>&lt;1&gt;</td></tr><tr><td>2</td>" in rendered
    assert '<html lang="ar" dir="rtl"' in rendered
    assert "fonts.googleapis" not in rendered


def test_mjml_stands_in_a_layout_without_its_own_document() -> None:
    rendered = render(MJML, {"payload": {"items": []}}, EditorType.MJML)

    assert "<html" not in rendered
    assert "<body" not in rendered
    assert rendered.startswith("<style")


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("<p>x</p>", "must begin with <mjml>"),
        ("<mjml>\n<mj-body>\n<mj-sectio></mj-sectio></mj-body></mjml>", "line 3: there is no element 'mj-sectio'"),
        ("<mjml>\n<mj-body>\n<mj-section></mj-body></mjml>", "line 3: mismatched tag"),
        ('<mjml><mj-body>\n<mj-include path="/etc/passwd" /></mj-body></mjml>', "line 2: mj-include is not possible"),
        (
            '<mjml><mj-body><mj-section>\n<mj-column width="{{ w }}"></mj-column></mj-section></mj-body></mjml>',
            "line 2: {{ w }} stands where MJML has no text",
        ),
        ("<mjml><mj-body>" + "<mj-wrapper>" * 200 + "</mj-wrapper>" * 200 + "</mj-body></mjml>", "inside each other"),
        ("<mjml><mj-body>{{ x", "does not end"),
        ("<mjml>" + " " * (300 << 10), "longer than 256 KB"),
    ],
)
def test_mjml_that_cannot_be_compiled_says_where(body: str, words: str) -> None:
    problem = compile_email(body, EditorType.MJML).problem

    assert isinstance(problem, EmailProblem)
    assert words in str(problem)


@pytest.mark.parametrize("element", ["<div>", "<p></x>", "<b></i>", "<mj-wrapper>", "<div a='>'>", "<p><table></p>"])
def test_elements_that_nest_too_deep_for_a_parser_are_counted(element: str) -> None:
    assert is_too_deep(element * (MAX_DEPTH + 1))
    assert not is_too_deep(element * 10)


def test_a_block_document_is_one_whatever_the_editor_says() -> None:
    assert ">x</p>" in render(make_document(paragraph("x")), {}, EditorType.HTML)
    assert ">x</p>" in render(make_document(paragraph("x")), {}, EditorType.MJML)


def test_json_that_is_no_document_is_refused_where_one_is_expected() -> None:
    with pytest.raises(EmailProblem, match="is no block document"):
        render('{"a": 1}', {}, EditorType.BLOCK)


@pytest.mark.parametrize(
    "selector",
    [
        "p:not(:not(:not(b > i)))",
        "p:not(b):not(i) u:not(s)",
        'p:not([a="}"]):not([a="{"]):not([a=";"])',
        "p:n\\6ft(b)",
        "@import url(a\"b);p{} i[a='\"']",
    ],
)
def test_rules_that_take_long_to_compare_stay_in_their_sheet(selector: str) -> None:
    body = f"<style>{selector}{{color:red}}</style><p>x</p>"

    assert clean_markup(body) == body
    assert explain_no_inlining(body) is not None


def test_a_rule_with_a_function_and_comments_is_inlined() -> None:
    body = "<style>/* a:b(c:d(e:f( */ p:not(.a):not(.b){color:red} .sm\\:x{a:b}</style><p>x</p>"

    assert '<p style="color: red;">' in clean_markup(body)


@pytest.mark.parametrize(
    "tag", ['<a title="x"href="{{payload.x}}">', '<a/href="{{payload.x}}">', "<a/href={{payload.x}}>"]
)
def test_links_that_stand_close_to_what_is_before_them_are_checked(tag: str) -> None:
    assert "javascript" not in render(tag, {"payload": {"x": "javascript:alert(1)"}}, layout=None)


@pytest.mark.parametrize(
    "body", ["<p>\n<a class={{payload.x}} title='", '<a href="{{payload.x}}>', '<p title="><a b={{c}}>']
)
def test_a_value_in_a_tag_that_does_not_end_is_a_problem(body: str) -> None:
    with pytest.raises(EmailProblem, match="does not end"):
        render(body, {}, layout=None)


@pytest.mark.parametrize("sign", ["=", "<style>", "<!--", "<!---->", "<head>", "{{", "{%", "<a b={{c}}"])
@pytest.mark.parametrize("editor", list(EditorType))
def test_signs_that_are_repeated_are_read_once(sign: str, editor: EditorType) -> None:
    body = sign * 2_000

    assert compile_body(body, editor).problems or compile_body(body, editor).markup == body
    assert has_slot(body) is False


def test_markup_that_grows_too_large_is_a_problem_and_not_kept() -> None:
    sheet = f"<style>p{{font-family:{'a' * 2_000}}}</style>"
    tall = "<mjml><mj-body>" + f'<mj-section css-class="{"a" * 3_000}"></mj-section>' + "<mj-section/>" * 2_000

    assert clean_markup(sheet + "<p>x</p>" * 3_000) == sheet + "<p>x</p>" * 3_000
    assert "too long among" in str(compile_body(tall + "</mj-body></mjml>", EditorType.MJML).problems)
    large = compile_body("x" * (MAX_TEMPLATE + 1), EditorType.HTML)
    assert (large.markup, len(large.faults)) == ("", 1)


def test_a_long_name_of_a_variable_is_a_problem() -> None:
    name = "payload." + "a" * 300
    for node in (
        paragraph(variable(name)),
        paragraph(variable("payload.a", aliasFor=name)),
        make_node("repeat", each=name),
    ):
        with pytest.raises(EmailProblem, match="256 characters"):
            render(make_document(node))
