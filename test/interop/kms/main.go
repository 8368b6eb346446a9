// The envelope encryption of kube-apiserver, by its own code: loads an EncryptionConfiguration as the API server does and obeys lines on
// standard input: `write TEXT`, `read HEX`, `health`. Each is answered by one line.
package main

import (
	"bufio"
	"context"
	"encoding/hex"
	"fmt"
	"net/http/httptest"
	"os"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/server/options/encryptionconfig"
	"k8s.io/apiserver/pkg/storage/value"
)

func main() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	configuration, err := encryptionconfig.LoadEncryptionConfig(ctx, os.Args[1], false, "test")
	if err != nil {
		fmt.Println("error", line(err.Error()))
		os.Exit(1)
	}
	transformer := configuration.Transformers[schema.GroupResource{Resource: "secrets"}]
	where := value.DefaultContext("secrets/default/example")
	fmt.Println("ready")
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(make([]byte, 1<<20), 1<<20)
	for lines.Scan() {
		command, argument, _ := strings.Cut(lines.Text(), " ")
		switch command {
		case "write":
			sealed, err := transformer.TransformToStorage(ctx, []byte(argument), where)
			answer(hex.EncodeToString(sealed), err)
		case "read":
			sealed, _ := hex.DecodeString(argument)
			text, stale, err := transformer.TransformFromStorage(ctx, sealed, where)
			answer(fmt.Sprintf("%v %s", stale, text), err)
		case "health":
			err := error(nil)
			for _, check := range configuration.HealthChecks {
				if found := check.Check(httptest.NewRequest("GET", "/healthz", nil)); found != nil {
					err = found
				}
			}
			answer("ok", err)
		}
	}
}

func answer(text string, err error) {
	if err != nil {
		text = "error " + line(err.Error())
	}
	fmt.Println(text)
}

func line(text string) string {
	return strings.ReplaceAll(text, "\n", " ")
}
