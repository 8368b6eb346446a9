// Reads a manifest of a pod on standard input as the API server does when it is asked to be strict: a field that pods do not have, or one twice, is refused.
package main

import (
	"fmt"
	"io"
	"os"

	core "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

func main() {
	text, err := io.ReadAll(os.Stdin)
	var pod core.Pod
	if err == nil {
		err = yaml.UnmarshalStrict(text, &pod)
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}
