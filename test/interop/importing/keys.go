// Writes private keys in the files that Go has for them: program FOLDER.
package main

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
)

func main() {
	rsaKey := must(rsa.GenerateKey(rand.Reader, 2048))
	ecKey := must(ecdsa.GenerateKey(elliptic.P384(), rand.Reader))
	_, edKey, err := ed25519.GenerateKey(rand.Reader)
	check(err)
	write("rsa-go-pkcs8.pem", "PRIVATE KEY", must(x509.MarshalPKCS8PrivateKey(rsaKey)))
	write("ec-go-pkcs8.pem", "PRIVATE KEY", must(x509.MarshalPKCS8PrivateKey(ecKey)))
	write("ed-go-pkcs8.pem", "PRIVATE KEY", must(x509.MarshalPKCS8PrivateKey(edKey)))
	write("rsa-go-pkcs1.pem", "RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(rsaKey))
	write("ec-go-sec1.pem", "EC PRIVATE KEY", must(x509.MarshalECPrivateKey(ecKey)))
}

func write(name, label string, der []byte) {
	file := filepath.Join(os.Args[1], name)
	check(os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: label, Bytes: der}), 0o600))
}

func must[T any](value T, err error) T {
	check(err)
	return value
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
