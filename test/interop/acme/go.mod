module keystored-acme-judge

go 1.26.0

require (
	github.com/cert-manager/cert-manager v1.21.2
	golang.org/x/crypto v0.59.0
)
