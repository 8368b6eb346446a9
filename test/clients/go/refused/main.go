// Must not compile: a misspelt field with a value of another type.
package main

import "keystored-clients/api"

func main() {
	_ = api.EncryptRequest{plaintxt: 5}
}
