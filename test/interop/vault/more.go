// Other libraries in Go, each with one argument of its name: OpenBao's client, sigstore's (which cosign uses), Tink's, and certificates as
// cert-manager and SPIRE ask for them.
package main

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"net/url"
	"os"
	"strings"

	"github.com/hashicorp/vault/api"
	openbao "github.com/openbao/openbao/api/v2"
	"github.com/sigstore/sigstore/pkg/signature/kms/hashivault"
	"github.com/tink-crypto/tink-go-hcvault/v2/integration/hcvault"
)

func loggedIn(client *api.Client) *api.Client {
	login := must(client.Logical().Write("auth/approle/login", values{"role_id": os.Getenv("ROLE_ID"), "secret_id": os.Getenv("SECRET_ID")}))
	client.SetToken(login.Auth.ClientToken)
	must(0, os.Setenv("VAULT_TOKEN", login.Auth.ClientToken))
	return client
}

func byOpenBao(name string, report values) {
	client := must(openbao.NewClient(openbao.DefaultConfig()))
	login := must(client.Logical().Write("auth/approle/login", values{"role_id": os.Getenv("ROLE_ID"), "secret_id": os.Getenv("SECRET_ID")}))
	client.SetToken(login.Auth.ClientToken)
	must(client.Logical().Write("transit/keys/"+name, nil))
	sealed := must(client.Logical().Write("transit/encrypt/"+name, values{"plaintext": octets("by OpenBao")})).Data["ciphertext"]
	report["opened"] = textOf(must(client.Logical().Write("transit/decrypt/"+name, values{"ciphertext": sealed})).Data["plaintext"])
	absent, err := client.Logical().Read("transit/keys/absent")
	report["absent"] = fmt.Sprint(absent == nil, err)
	report["listed"] = len(must(client.Logical().List("transit/keys")).Data["keys"].([]any)) > 0
	report["health"] = must(client.Sys().Health()).Initialized
	must(0, client.Auth().Token().RevokeSelf(""))
}

// A key made, a signature checked by the service and by its public key alone, and one over other content refused.
func bySigstore(client *api.Client, name string, report values) {
	loggedIn(client)
	ctx := context.Background()
	for _, algorithm := range []string{hashivault.AlgorithmECDSAP256, hashivault.AlgorithmED25519} {
		signer := must(hashivault.LoadSignerVerifier("hashivault://"+name+"-"+algorithm, crypto.SHA256))
		made := must(signer.CreateKey(ctx, algorithm))
		signature := must(signer.SignMessage(strings.NewReader("signed")))
		verify := func(text string) bool {
			return signer.VerifySignature(bytes.NewReader(signature), strings.NewReader(text)) == nil
		}
		report[algorithm] = []any{made != nil, verify("signed"), verify("other")}
	}
}

// Values bound to associated data: another one opens nothing.
func byTink(client *api.Client, name string, report values) {
	loggedIn(client)
	must(client.Logical().Write("transit/keys/"+name, nil))
	aead := must(hcvault.NewAEAD("/transit/keys/"+name, client.Logical()))
	sealed := must(aead.Encrypt([]byte("by Tink"), []byte("bound")))
	report["opened"] = string(must(aead.Decrypt(sealed, []byte("bound"))))
	_, err := aead.Decrypt(sealed, []byte("other"))
	report["refusesOther"] = err != nil
}

// The requests of cert-manager (all fields as text) and SPIRE (an empty common name), and what their answers have to contain.
func certificates(client *api.Client, report values) {
	loggedIn(client)
	requested := func(template x509.CertificateRequest) string {
		key := must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
		der := must(x509.CreateCertificateRequest(rand.Reader, &template, key))
		return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der}))
	}
	parsed := func(text any) *x509.Certificate {
		block, _ := pem.Decode([]byte(text.(string)))
		return must(x509.ParseCertificate(block.Bytes))
	}
	chained := func(data values) *x509.Certificate {
		roots, middle := x509.NewCertPool(), x509.NewCertPool()
		chain := data["ca_chain"].([]any)
		roots.AddCert(parsed(chain[len(chain)-1]))
		for _, text := range chain {
			middle.AddCert(parsed(text))
		}
		own := parsed(data["certificate"])
		any := []x509.ExtKeyUsage{x509.ExtKeyUsageAny}
		must(own.Verify(x509.VerifyOptions{Roots: roots, Intermediates: middle, KeyUsages: any}))
		return own
	}

	csr := requested(x509.CertificateRequest{Subject: pkix.Name{CommonName: "a.example.test"}, DNSNames: []string{"a.example.test"}})
	leaf := chained(must(client.Logical().Write("pki/sign/web", values{
		"csr": csr, "common_name": "a.example.test", "alt_names": "a.example.test", "ip_sans": "", "uri_sans": "",
		"ttl": "24h0m0s", "exclude_cn_from_sans": "true",
	})).Data)
	report["leaf"] = []any{leaf.DNSNames[0], leaf.IsCA}

	trustDomain := must(url.Parse("spiffe://example.org"))
	csr = requested(x509.CertificateRequest{Subject: pkix.Name{Organization: []string{"SPIFFE"}, Country: []string{"US"}}, URIs: []*url.URL{trustDomain}})
	middle := chained(must(client.Logical().Write("pki/root/sign-intermediate", values{
		"csr": csr, "common_name": "", "organization": "SPIFFE", "country": "US", "uri_sans": "spiffe://example.org", "ttl": "3600",
	})).Data)
	report["intermediate"] = []any{middle.URIs[0].String(), middle.IsCA, middle.MaxPathLenZero}

	issued := must(client.Logical().Write("pki/issue/web", values{"common_name": "b.example.test"})).Data
	report["issued"] = strings.HasPrefix(issued["private_key"].(string), "-----BEGIN EC PRIVATE KEY-----")
	report["listed"] = len(must(client.Logical().List("pki/certs")).Data["keys"].([]any))
	report["revoked"] = must(client.Logical().Write("pki/revoke", values{"serial_number": issued["serial_number"]})).Data["state"]
}
