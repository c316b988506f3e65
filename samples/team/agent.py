"""A team: two experts work side by side, then an editor sums up what both said."""

from google.adk.agents import LlmAgent
from google.adk.apps import App
from google.adk.models.llm_request import LlmRequest
from google.adk.workflow import JoinNode, Workflow
from scripted_model import ScriptedLlm, last_text

from aion_adk import A2ABridgePlugin


def expert(name: str, *, description: str, opinion: str) -> LlmAgent:
    def script(request: LlmRequest) -> str:
        return f"{opinion} That is what I say about “{last_text(request)}”."

    return LlmAgent(
        name=name,
        description=description,
        model=ScriptedLlm(script=script),
        instruction="Give your opinion in two sentences.",
        output_key=name,
    )


optimist = expert("optimist", description="Sees what can be won.", opinion="It will go well.")
sceptic = expert("sceptic", description="Sees what can go wrong.", opinion="Test it first.")


def summary(request: LlmRequest) -> str:
    return "Both agree on one thing: begin small, and look at what happens."


editor = LlmAgent(
    name="editor",
    description="Sums up what the experts said.",
    model=ScriptedLlm(script=summary),
    instruction="Sum up in one sentence: {optimist} {sceptic}",
)

root_agent = Workflow(
    name="team",
    description="Two experts answer side by side, an editor sums up.",
    edges=[("START", (optimist, sceptic), JoinNode(name="both"), editor)],
)
app = App(name="team", root_agent=root_agent, plugins=[A2ABridgePlugin()])
