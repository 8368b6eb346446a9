"""A client that is closed when the tests of a file are done."""

import keystored_client

_clients = []


class Client(keystored_client.Client):
    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        _clients.append(self)


def tearDownModule():
    for client in _clients:
        client.close()
