// Signatures by crypto11, which cosign and step-ca use: obeys lines on standard input, `sign N` (so many at once, each verified with the
// public key of the token). Each is answered by one line: the number that hold, or the error.
package main

import (
	"bufio"
	"crypto"
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/ThalesIgnite/crypto11"
)

func main() {
	token, err := crypto11.Configure(&crypto11.Config{Path: os.Args[1], TokenLabel: "keystored", LoginNotSupported: true})
	if err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
	key, err := token.FindKeyPair(nil, []byte(os.Args[2]))
	if err != nil || key == nil {
		fmt.Println("error", err, key == nil)
		os.Exit(1)
	}
	public, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
	fmt.Println(hex.EncodeToString(public))
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		count, _ := strconv.Atoi(strings.TrimPrefix(lines.Text(), "sign "))
		var hold atomic.Int64
		var failure atomic.Value
		var all sync.WaitGroup
		for range count {
			all.Add(1)
			go func() {
				defer all.Done()
				digest := sha256.Sum256([]byte(rand.Text()))
				signature, err := key.Sign(rand.Reader, digest[:], crypto.SHA256)
				if err != nil {
					failure.Store(err.Error())
				} else if ecdsa.VerifyASN1(key.Public().(*ecdsa.PublicKey), digest[:], signature) {
					hold.Add(1)
				}
			}()
		}
		all.Wait()
		if text := failure.Load(); text != nil {
			fmt.Println("error", text)
		} else {
			fmt.Println(hold.Load())
		}
	}
}
