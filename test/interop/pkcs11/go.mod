module keystored-pkcs11-client

go 1.26.0

require github.com/ThalesIgnite/crypto11 v1.2.5

require (
	github.com/miekg/pkcs11 v1.0.3-0.20190429190417-a667d056470f // indirect
	github.com/pkg/errors v0.8.1 // indirect
	github.com/thales-e-security/pool v0.0.2 // indirect
)
