// Two libraries of Go against ACME: that of golang.org/x/crypto, and the fork of it in cert-manager. Usage: judge LIBRARY DIRECTORY NAME PORT; the
// server is trusted by SSL_CERT_FILE. Prints the names of the certificate and what a revocation said.
package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"

	certmanager "github.com/cert-manager/cert-manager/third_party/forked/acme"
	"golang.org/x/crypto/acme"
)

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	library, directory, name, port := os.Args[1], os.Args[2], os.Args[3], os.Args[4]
	var err error
	if library == "x/crypto" {
		err = withGo(ctx, directory, name, port)
	} else {
		err = withCertManager(ctx, directory, name, port)
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

func newKey() *ecdsa.PrivateKey {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	return key
}

// serve answers one path on the port of http-01 until it is ended.
func serve(port, path, body string) func() {
	listener, err := net.Listen("tcp", "127.0.0.1:"+port)
	if err != nil {
		panic(err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, body) })
	server := &http.Server{Handler: mux}
	go server.Serve(listener)
	return func() { server.Close() }
}

func request(key *ecdsa.PrivateKey, name string) []byte {
	csr, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{DNSNames: []string{name}}, key)
	if err != nil {
		panic(err)
	}
	return csr
}

func report(chain [][]byte, revoked error) error {
	leaf, err := x509.ParseCertificate(chain[0])
	if err != nil {
		return err
	}
	fmt.Println(leaf.DNSNames, len(chain), revoked)
	return nil
}

func withGo(ctx context.Context, directory, name, port string) error {
	client := &acme.Client{Key: newKey(), DirectoryURL: directory}
	if _, err := client.Register(ctx, &acme.Account{}, acme.AcceptTOS); err != nil {
		return err
	}
	order, err := client.AuthorizeOrder(ctx, acme.DomainIDs(name))
	if err != nil {
		return err
	}
	for _, url := range order.AuthzURLs {
		authorization, err := client.GetAuthorization(ctx, url)
		if err != nil {
			return err
		}
		for _, challenge := range authorization.Challenges {
			if challenge.Type != "http-01" {
				continue
			}
			body, _ := client.HTTP01ChallengeResponse(challenge.Token)
			end := serve(port, client.HTTP01ChallengePath(challenge.Token), body)
			defer end()
			if _, err := client.Accept(ctx, challenge); err != nil {
				return err
			}
		}
		if _, err := client.WaitAuthorization(ctx, url); err != nil {
			return err
		}
	}
	if order, err = client.WaitOrder(ctx, order.URI); err != nil {
		return err
	}
	key := newKey()
	chain, _, err := client.CreateOrderCert(ctx, order.FinalizeURL, request(key, name), true)
	if err != nil {
		return err
	}
	return report(chain, client.RevokeCert(ctx, key, chain[0], acme.CRLReasonSuperseded))
}

func withCertManager(ctx context.Context, directory, name, port string) error {
	client := &certmanager.Client{Key: newKey(), DirectoryURL: directory}
	if _, err := client.Register(ctx, &certmanager.Account{}, certmanager.AcceptTOS); err != nil {
		return err
	}
	order, err := client.AuthorizeOrder(ctx, certmanager.DomainIDs(name))
	if err != nil {
		return err
	}
	for _, url := range order.AuthzURLs {
		authorization, err := client.GetAuthorization(ctx, url)
		if err != nil {
			return err
		}
		for _, challenge := range authorization.Challenges {
			if challenge.Type != "http-01" {
				continue
			}
			body, _ := client.HTTP01ChallengeResponse(challenge.Token)
			end := serve(port, client.HTTP01ChallengePath(challenge.Token), body)
			defer end()
			if _, err := client.Accept(ctx, challenge); err != nil {
				return err
			}
		}
		if _, err := client.WaitAuthorization(ctx, url); err != nil {
			return err
		}
	}
	if order, err = client.WaitOrder(ctx, order.URI); err != nil {
		return err
	}
	key := newKey()
	chain, _, err := client.CreateOrderCert(ctx, order.FinalizeURL, request(key, name), true)
	if err != nil {
		return err
	}
	return report(chain, client.RevokeCert(ctx, nil, chain[0], certmanager.CRLReasonSuperseded))
}
