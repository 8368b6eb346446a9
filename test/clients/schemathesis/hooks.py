# What schemathesis cannot know: OCSP requests are octets, and empty where it sends text.
import schemathesis


@schemathesis.serializer("application/ocsp-request")
def octets(context, value):
    return value.encode() if isinstance(value, str) else bytes(value)
