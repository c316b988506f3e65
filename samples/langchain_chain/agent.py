"""A LangChain chain as an agent: a prompt with the conversation in it, a model, a parser.

The model is a fake one that needs no key; put a real chat model in its place.
"""

from google.adk.apps import App

from aion_adk import A2ABridgePlugin
from aion_adk.drivers import CallableAgent

NAME = "langchain_chain"

try:
    from langchain_core.language_models.fake_chat_models import FakeListChatModel
    from langchain_core.output_parsers import StrOutputParser
    from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder

    from aion_adk.drivers import LangChainAgent
except ImportError:
    root_agent = CallableAgent(
        NAME, lambda text: "This sample needs LangChain: pip install 'aion-adk[langchain]'"
    )
else:
    prompt = ChatPromptTemplate.from_messages(
        [
            ("system", "You are a patient teacher."),
            MessagesPlaceholder("history", optional=True),
            ("human", "{question}"),
        ]
    )
    model = FakeListChatModel(
        responses=["A good question. ", "Let us look at it together."], sleep=0.01
    )
    root_agent = LangChainAgent(
        NAME, prompt | model | StrOutputParser(), description="Answers as a LangChain chain does."
    )

app = App(name=NAME, root_agent=root_agent, plugins=[A2ABridgePlugin()])
