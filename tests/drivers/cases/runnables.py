from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder

from aion_adk.drivers import LangChainAgent
from tests.drivers.cases import chat_models
from tests.drivers.cases.case import SECRET, Case, Probe

PROMPT = ChatPromptTemplate.from_messages(
    [("system", "Be nice."), MessagesPlaceholder("history", optional=True), ("human", "{question}")]
)


class ChatModelCase(Case):
    driver = "langchain"

    def echo(self, name: str = "echo") -> LangChainAgent:
        return LangChainAgent(name, chat_models.echoing())

    def failing(self) -> LangChainAgent:
        return LangChainAgent("failing", chat_models.failing("ABC", ValueError(SECRET)))

    def hanging(self, probe: Probe, *, timeout: float | None = None) -> LangChainAgent:
        return LangChainAgent("hanging", chat_models.hanging(probe.hang), timeout=timeout)

    def counting(self) -> LangChainAgent:
        return LangChainAgent("counting", chat_models.counting())


class ChainCase(ChatModelCase):
    driver = "langchain_chain"

    def echo(self, name: str = "echo") -> LangChainAgent:
        return LangChainAgent(name, PROMPT | chat_models.echoing() | StrOutputParser())

    def counting(self) -> LangChainAgent:
        return LangChainAgent("counting", PROMPT | chat_models.counting() | StrOutputParser())
