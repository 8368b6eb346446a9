// Seals, opens and rewraps files with the Go client: COMMAND FROM TO …; a line for each, and the most memory in kB. `import` takes keys TO.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"

	keystored "keystored-client"
)

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	ca, err := os.ReadFile(os.Getenv("KEYSTORED_CA_FILE"))
	if err != nil {
		return err
	}
	client, err := keystored.New(keystored.Config{
		Addresses: []string{os.Getenv("KEYSTORED_URL")}, CAPEM: ca, Token: os.Getenv("KEYSTORED_TOKEN"),
	})
	if err != nil {
		return err
	}
	key := client.Key(os.Getenv("KEYSTORED_KEY"))
	files := os.Args[2:]
	for at := 0; at < len(files); at += 2 {
		if os.Args[1] == "import" {
			key = client.Key(files[at+1])
		}
		switch err := work(ctx, key, files[at], files[at+1]); {
		case errors.Is(err, keystored.ErrSealedData):
			fmt.Println("refused:", err)
		case err != nil:
			return err
		default:
			fmt.Println("done")
		}
	}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return err
	}
	fmt.Println(string(regexp.MustCompile(`VmHWM:\s*(\d+)`).FindSubmatch(status)[1]))
	return nil
}

func work(ctx context.Context, key *keystored.Key, from, to string) error {
	if os.Args[1] == "rewrap" {
		return rewrap(ctx, key, from)
	}
	if os.Args[1] == "import" {
		material, err := os.ReadFile(from)
		if err != nil {
			return err
		}
		return key.ImportWrapped(ctx, material)
	}
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	made := key.Seal
	if os.Args[1] == "open" {
		made = key.Open
	}
	reader, err := made(ctx, source)
	if err != nil {
		return err
	}
	target, err := os.Create(to)
	if err != nil {
		return err
	}
	defer target.Close()
	_, err = io.Copy(target, reader)
	return err
}

func rewrap(ctx context.Context, key *keystored.Key, name string) error {
	file, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer file.Close()
	header := make([]byte, keystored.SealedHeaderBytes)
	if _, err := file.ReadAt(header, 0); err != nil {
		return err
	}
	if header, err = key.RewrapSealed(ctx, header); err != nil {
		return err
	}
	_, err = file.WriteAt(header, 0)
	return err
}
