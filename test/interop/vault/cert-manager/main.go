// What cert-manager's controller does for an issuer of the type `vault`, by its own code: the module is named as one below it, so that it may import
// what is internal there. Prints a line of JSON.
package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"net"
	"net/url"
	"os"
	"time"

	"github.com/cert-manager/cert-manager/internal/informers"
	"github.com/cert-manager/cert-manager/internal/vault"
	certmanager "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1"
	meta "github.com/cert-manager/cert-manager/pkg/apis/meta/v1"
	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	listers "k8s.io/client-go/listers/core/v1"
)

type values = map[string]any

// secrets are those of the namespace of the issuer: one datum each, by the name that it is asked for.
type secrets map[string]string

func (s secrets) Secrets(string) listers.SecretNamespaceLister { return s }
func (s secrets) List(labels.Selector) ([]*core.Secret, error) { return nil, nil }
func (s secrets) Get(name string) (*core.Secret, error) {
	if value, found := s[name]; found {
		return &core.Secret{Data: map[string][]byte{"value": []byte(value + "\n")}}, nil
	}
	return nil, errors.NewNotFound(schema.GroupResource{Resource: "secrets"}, name)
}

var _ informers.SecretLister = secrets{}

// issuer is connected as the controller connects it at each request: it logs in.
func issuer(auth certmanager.VaultAuth, path string, namespace string) (vault.Interface, error) {
	resource := &certmanager.Issuer{}
	resource.Spec.Vault = &certmanager.VaultIssuer{
		Server: os.Getenv("VAULT_ADDR"), Path: path, Namespace: namespace, Auth: auth, CABundle: must(os.ReadFile(os.Getenv("VAULT_CACERT"))),
	}
	noTokens := func(string) vault.CreateToken { return nil }
	held := secrets{"token": os.Getenv("VAULT_TOKEN"), "secret-id": os.Getenv("SECRET_ID"), "wrong": "wrong"}
	return vault.New(context.Background(), "default", noTokens, held, resource, false)
}

func secret(name string) meta.SecretKeySelector {
	return meta.SecretKeySelector{LocalObjectReference: meta.LocalObjectReference{Name: name}, Key: "value"}
}

func byToken(name string) certmanager.VaultAuth {
	selector := secret(name)
	return certmanager.VaultAuth{TokenSecretRef: &selector}
}

func byRole(secretID string) certmanager.VaultAuth {
	return certmanager.VaultAuth{AppRole: &certmanager.VaultAppRole{Path: "approle", RoleId: os.Getenv("ROLE_ID"), SecretRef: secret(secretID)}}
}

func main() {
	report := values{"ready": must(issuer(byToken("token"), "pki/sign/web", "")).IsVaultInitializedAndUnsealed() == nil}
	report["token"] = signed(must(issuer(byToken("token"), "pki/sign/web", "")), "token.example.test")
	report["role"] = signed(must(issuer(byRole("secret-id"), "pki/sign/web", "")), "role.example.test")
	_, err := issuer(byRole("wrong"), "pki/sign/web", "")
	report["wrongSecret"] = said(err)
	report["wrongToken"] = refused(must(issuer(byToken("wrong"), "pki/sign/web", "")), "a.example.test")
	report["otherName"] = refused(must(issuer(byToken("token"), "pki/sign/web", "")), "a.example.org")
	report["otherRole"] = refused(must(issuer(byToken("token"), "pki/sign/absent", "")), "a.example.test")
	_, err = issuer(byRole("secret-id"), "pki/sign/web", "elsewhere")
	report["otherNamespace"] = said(err)
	must(0, json.NewEncoder(os.Stdout).Encode(report))
}

func request(name string) []byte {
	key := must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	der := must(x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{
		Subject: pkix.Name{CommonName: name}, DNSNames: []string{name, "www." + name}, IPAddresses: []net.IP{net.ParseIP("10.1.2.3")},
		URIs: []*url.URL{must(url.Parse("spiffe://example.test/shop"))},
	}, key))
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der})
}

// signed is what the Secret of a Certificate would have: the names and hours of a chain that Go's verifier accepts by the CA of the answer.
func signed(by vault.Interface, name string) values {
	chain, ca, err := by.Sign(request(name), 36*time.Hour)
	must(0, err)
	roots, middle := x509.NewCertPool(), x509.NewCertPool()
	roots.AppendCertsFromPEM(ca)
	block, rest := pem.Decode(chain)
	middle.AppendCertsFromPEM(rest)
	leaf := must(x509.ParseCertificate(block.Bytes))
	must(leaf.Verify(x509.VerifyOptions{Roots: roots, Intermediates: middle, DNSName: name}))
	hours := time.Until(leaf.NotAfter).Round(time.Hour).Hours()
	return values{"names": leaf.DNSNames, "addresses": leaf.IPAddresses, "uris": []string{leaf.URIs[0].String()}, "hours": hours}
}

func refused(by vault.Interface, name string) string {
	_, _, err := by.Sign(request(name), time.Hour)
	return said(err)
}

// said is what the controller writes into the status of an issuer or a request.
func said(err error) string {
	if err == nil {
		return ""
	}
	return vault.SafeErrorMessage(err)
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
