// Seals to public keys with Tink, or seals or encapsulates with the standard library: program tink|x-wing|ml-kem FOLDER. It prints a line for each message: key, KDF, AEAD,
// base64; of ML-KEM key, "secret", the secret, the ciphertext.
package main

import (
	"crypto/ecdh"
	"crypto/ecdsa"
	standard "crypto/hpke"
	"crypto/mlkem"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"

	"github.com/tink-crypto/tink-go/v2/hybrid"
	"github.com/tink-crypto/tink-go/v2/hybrid/hpke"
	"github.com/tink-crypto/tink-go/v2/keyset"
)

var kems = []struct {
	key  string
	kem  hpke.KEMID
	kdf  string
	hash hpke.KDFID
}{
	{"p256", hpke.DHKEM_P256_HKDF_SHA256, "hkdf-sha256", hpke.HKDFSHA256},
	{"p384", hpke.DHKEM_P384_HKDF_SHA384, "hkdf-sha384", hpke.HKDFSHA384},
	{"p521", hpke.DHKEM_P521_HKDF_SHA512, "hkdf-sha512", hpke.HKDFSHA512},
	{"x25519", hpke.DHKEM_X25519_HKDF_SHA256, "hkdf-sha256", hpke.HKDFSHA256},
}

var aeads = []struct {
	name string
	id   hpke.AEADID
}{
	{"aes-128-gcm", hpke.AES128GCM},
	{"aes-256-gcm", hpke.AES256GCM},
	{"chacha20-poly1305", hpke.ChaCha20Poly1305},
}

func main() {
	if os.Args[1] == "ml-kem" {
		encapsulate(os.Args[2])
		return
	}
	if os.Args[1] == "x-wing" {
		sealToXWing(os.Args[2])
		return
	}
	for _, kem := range kems {
		point := read(filepath.Join(os.Args[2], kem.key+".pem"))
		for _, aead := range aeads {
			// What the raw key templates have: no prefix before the message.
			parameters := must(hpke.NewParameters(hpke.ParametersOpts{
				KEMID: kem.kem, KDFID: kem.hash, AEADID: aead.id, Variant: hpke.VariantNoPrefix,
			}))
			manager := keyset.NewManager()
			id := must(manager.AddKey(must(hpke.NewPublicKey(point, 0, parameters))))
			check(manager.SetPrimary(id))
			sender := must(hybrid.NewHybridEncrypt(must(manager.Handle())))
			message := must(sender.Encrypt([]byte("by Tink"), []byte("info")))
			fmt.Println(kem.key, kem.kdf, aead.name, base64.StdEncoding.EncodeToString(message))
		}
	}
}

func sealToXWing(folder string) {
	const size = 1216
	block, _ := pem.Decode(must(os.ReadFile(filepath.Join(folder, "mlkem768-x25519.pem"))))
	// The raw key is the end of its SubjectPublicKeyInfo.
	key := must(standard.MLKEM768X25519().NewPublicKey(block.Bytes[len(block.Bytes)-size:]))
	for kdf, makeKdf := range map[string]func() standard.KDF{
		"hkdf-sha256": standard.HKDFSHA256, "hkdf-sha384": standard.HKDFSHA384, "hkdf-sha512": standard.HKDFSHA512,
	} {
		for aead, makeAead := range map[string]func() standard.AEAD{
			"aes-128-gcm": standard.AES128GCM, "aes-256-gcm": standard.AES256GCM, "chacha20-poly1305": standard.ChaCha20Poly1305,
		} {
			encapsulated, sender, err := standard.NewSender(key, makeKdf(), makeAead(), []byte("info"))
			check(err)
			message := append(encapsulated, must(sender.Seal([]byte("bound"), []byte("by Go")))...)
			fmt.Println("mlkem768-x25519", kdf, aead, base64.StdEncoding.EncodeToString(message))
		}
	}
}

type encapsulator interface {
	Encapsulate() (secret, ciphertext []byte)
}

func encapsulate(folder string) {
	// The raw key is the end of its SubjectPublicKeyInfo.
	raw := func(name string, size int) []byte {
		block, _ := pem.Decode(must(os.ReadFile(filepath.Join(folder, name+".pem"))))
		return block.Bytes[len(block.Bytes)-size:]
	}
	text := base64.StdEncoding.EncodeToString
	for name, key := range map[string]encapsulator{
		"ml-kem-768":  must(mlkem.NewEncapsulationKey768(raw("ml-kem-768", mlkem.EncapsulationKeySize768))),
		"ml-kem-1024": must(mlkem.NewEncapsulationKey1024(raw("ml-kem-1024", mlkem.EncapsulationKeySize1024))),
	} {
		secret, ciphertext := key.Encapsulate()
		fmt.Println(name, "secret", text(secret), text(ciphertext))
	}
}

func read(file string) []byte {
	block, _ := pem.Decode(must(os.ReadFile(file)))
	switch key := must(x509.ParsePKIXPublicKey(block.Bytes)).(type) {
	case *ecdsa.PublicKey:
		return must(key.ECDH()).Bytes()
	case *ecdh.PublicKey:
		return key.Bytes()
	}
	panic("a public key of another kind")
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
