from aion_adk.drivers import LangGraphAgent
from tests.drivers.cases import chat_models
from tests.drivers.cases.case import SECRET, Case, Probe
from tests.drivers.cases.langgraph_graphs import chat_graph


class LangGraphCase(Case):
    driver = "langgraph"
    remembering = False

    def echo(self, name: str = "echo") -> LangGraphAgent:
        graph = chat_graph(chat_models.echoing(), remembering=self.remembering)
        return LangGraphAgent(name, graph)

    def failing(self) -> LangGraphAgent:
        model = chat_models.failing("ABC", ValueError(SECRET))
        return LangGraphAgent("failing", chat_graph(model, remembering=self.remembering))

    def hanging(self, probe: Probe, *, timeout: float | None = None) -> LangGraphAgent:
        model = chat_models.hanging(probe.hang)
        graph = chat_graph(model, remembering=self.remembering)
        return LangGraphAgent("hanging", graph, timeout=timeout)

    def counting(self) -> LangGraphAgent:
        graph = chat_graph(chat_models.counting(), remembering=self.remembering)
        return LangGraphAgent("counting", graph)


class RememberingLangGraphCase(LangGraphCase):
    driver = "langgraph_checkpointed"
    remembering = True
