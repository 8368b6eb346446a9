// The etcd server and nothing else: built from its module, at the version and with the sums of go.mod and go.sum.
package main

import (
	"os"

	"go.etcd.io/etcd/server/v3/etcdmain"
)

func main() {
	etcdmain.Main(os.Args)
}
