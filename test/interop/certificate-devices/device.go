// A device in Go: it enrols by EST (github.com/globalsign/est), logs in with its certificate, and uses a key. It prints the ciphertext.
package main

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/globalsign/est"
)

func must[T any](value T, err error) T {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return value
}

func main() {
	enrolAt, secret, keystore, name := must(url.Parse(os.Args[1])), os.Args[2], os.Args[3], os.Args[4]
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(must(os.ReadFile(os.Args[5])))

	key := must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	template := &x509.CertificateRequest{Subject: pkix.Name{CommonName: name}, DNSNames: []string{name}}
	request := must(x509.ParseCertificateRequest(must(x509.CreateCertificateRequest(rand.Reader, template, key))))
	// Its paths have one segment more at most: tenant and CA as one label.
	label := strings.ReplaceAll(strings.TrimPrefix(enrolAt.Path, "/.well-known/est/"), "/", "~")
	device := est.Client{
		Host: enrolAt.Host, AdditionalPathSegment: label, ExplicitAnchor: roots, Username: "est", Password: secret,
	}
	certificate := must(device.Enroll(context.Background(), request))

	own := tls.Certificate{Certificate: [][]byte{certificate.Raw}, PrivateKey: key}
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{own}}}}
	token := ""
	ask := func(path string, body any) map[string]any {
		sent := must(http.NewRequest("POST", keystore+path, bytes.NewReader(must(json.Marshal(body)))))
		sent.Header.Set("Content-Type", "application/json")
		if token != "" {
			sent.Header.Set("Authorization", "Bearer "+token)
		}
		answer := must(client.Do(sent))
		defer answer.Body.Close()
		said := map[string]any{}
		must(0, json.NewDecoder(answer.Body).Decode(&said))
		if answer.StatusCode != 200 {
			must(0, fmt.Errorf("%s: %d %v", path, answer.StatusCode, said))
		}
		return said
	}
	token = ask("/v1/certificate-login", map[string]string{"tenant": "system", "role": "sensors"})["token"].(string)
	fmt.Println(ask("/v1/state/keystore/transit-keys/readings/encrypt", map[string]string{"plaintext": "MjEuNQ=="})["ciphertext"])
}
