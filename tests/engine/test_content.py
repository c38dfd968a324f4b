"""What messages contain: rendered texts, sanitised markup, and what a step refuses to send."""

from tests.engine.support import World, in_app

NUL = "{{'%00' | url_decode}}"


async def test_a_decoded_nul_character_is_left_out_of_the_message(world: World) -> None:
    await world.make_workflow(in_app(f"a{NUL}b", subject=f"c{NUL}d", data={"n": f"e{NUL}f"}))
    await world.trigger()
    await world.work()

    (message,) = await world.messages()
    assert await world.statuses() == [["completed"]]
    assert (message["content"], message["subject"]) == ("ab", "cd")
