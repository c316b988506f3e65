"""What a message must be before anything is done with it."""

from a2a.types import SendMessageRequest
from a2a.utils.errors import InvalidParamsError
from a2a.utils.proto_utils import validate_proto_required_fields
from a2a.utils.task import validate_history_length

from aion_adk.stamp import misfits_of


def require_admissible(params: SendMessageRequest) -> None:
    """Refuses what lacks a part, asks for nonsense, or could not be written as JSON again."""
    if not is_complete(params):
        validate_proto_required_fields(params)
    validate_history_length(params.configuration)
    if list(misfits_of(params.message)):
        raise InvalidParamsError("The message holds a number that is none, or nests too deep.")


def is_complete(params: SendMessageRequest) -> bool:
    """Whether all that A2A requires is there; a2a-sdk, which says what is not, takes far longer."""
    message = params.message
    if params.configuration.HasField("task_push_notification_config"):
        return False
    return bool(message.message_id and message.role and message.parts)
