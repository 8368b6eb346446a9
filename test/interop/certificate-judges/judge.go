// Judges certificates and a revocation list with Go: judge FOLDER, which has ca.pem, leaf.pem and list.der. It prints one line of what it found.
package main

import (
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	read := func(name string) []byte {
		content, err := os.ReadFile(filepath.Join(os.Args[1], name))
		check(err)
		if block, _ := pem.Decode(content); block != nil {
			return block.Bytes
		}
		return content
	}
	ca, err := x509.ParseCertificate(read("ca.pem"))
	check(err)
	leaf, err := x509.ParseCertificate(read("leaf.pem"))
	check(err)
	roots := x509.NewCertPool()
	roots.AddCert(ca)
	_, err = leaf.Verify(x509.VerifyOptions{Roots: roots, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny}})
	check(err)
	list, err := x509.ParseRevocationList(read("list.der"))
	check(err)
	check(list.CheckSignatureFrom(ca))
	revoked := false
	for _, entry := range list.RevokedCertificateEntries {
		revoked = revoked || entry.SerialNumber.Cmp(leaf.SerialNumber) == 0
	}
	fmt.Println(ca.SignatureAlgorithm, leaf.SignatureAlgorithm, list.SignatureAlgorithm, revoked)
}

func check(err error) {
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}
