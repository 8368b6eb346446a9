// A service with `seal "transit"`, by the client that such a seal has: it obeys lines on its standard input, and answers each with one.
// The requests are those of a real one: at a start the token is renewed and a letter encrypted; at init the root key is encrypted twice and opened;
// at every later start it is opened; a look at the health encrypts, and encrypts the root key again under a newer key.
package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	wrapping "github.com/hashicorp/go-kms-wrapping/v2"
	"github.com/hashicorp/go-kms-wrapping/wrappers/transit/v2"
	"github.com/hashicorp/vault/api"
)

// What is on its disk, and what it holds in memory while it is unsealed.
type sealedService struct {
	wrapper *transit.Wrapper
	stored  *wrapping.BlobInfo
	first   []byte
	root    []byte
	load    *load
}

func serveSealed() {
	service := &sealedService{}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		fmt.Println(strings.ReplaceAll(service.obey(lines.Text()), "\n", " "))
	}
}

func (s *sealedService) obey(line string) string {
	if address, moves := strings.CutPrefix(line, "at "); moves {
		must(0, os.Setenv("VAULT_ADDR", address))
		return "moved"
	}
	switch line {
	case "start":
		return s.start()
	case "stop":
		must(0, s.wrapper.Finalize(context.Background()))
		s.wrapper, s.root = nil, nil
		return "stopped"
	case "check":
		return s.check()
	case "renew":
		client := must(api.NewClient(api.DefaultConfig()))
		if _, err := client.Auth().Token().RenewTokenAsSelf(client.Token(), 0); err != nil {
			return "not renewed: " + refusal(err)
		}
		return "renewed"
	case "load":
		s.load = startLoad(s.wrapper)
		return "loaded"
	case "progress":
		return fmt.Sprint(s.load.good.Load())
	case "unload":
		return s.load.end()
	}
	return "unknown: " + line
}

func (s *sealedService) start() string {
	ctx := context.Background()
	wrapper := transit.NewWrapper()
	if _, err := wrapper.SetConfig(ctx, transit.WithMountPath("transit"), transit.WithKeyName(os.Getenv("SEAL_KEY"))); err != nil {
		return "sealed: " + refusal(err)
	}
	s.wrapper = wrapper
	if s.stored == nil {
		root := make([]byte, 32)
		must(rand.Read(root))
		if _, err := wrapper.Encrypt(ctx, []byte("recovery")); err != nil {
			return "sealed: " + refusal(err)
		}
		stored, err := wrapper.Encrypt(ctx, root)
		if err != nil {
			return "sealed: " + refusal(err)
		}
		s.stored, s.first = stored, root
	}
	root, err := wrapper.Decrypt(ctx, s.stored)
	if err != nil {
		return "sealed: " + refusal(err)
	}
	if !bytes.Equal(root, s.first) {
		return "wrong root key"
	}
	s.root = root
	return "unsealed " + s.stored.KeyInfo.KeyId
}

// What a seal does every ten minutes. One that is unhealthy goes on with the root key that it holds.
func (s *sealedService) check() string {
	ctx := context.Background()
	probe, err := s.wrapper.Encrypt(ctx, []byte("probe"))
	if err != nil {
		return "unhealthy: " + refusal(err)
	}
	opened, err := s.wrapper.Decrypt(ctx, probe)
	if err != nil || string(opened) != "probe" {
		return "unhealthy: " + refusal(err)
	}
	if probe.KeyInfo.KeyId != s.stored.KeyInfo.KeyId {
		stored, err := s.wrapper.Encrypt(ctx, s.root)
		if err != nil {
			return "unhealthy: " + refusal(err)
		}
		s.stored = stored
	}
	return "healthy " + s.stored.KeyInfo.KeyId
}

// Encrypts and decrypts by four at once until it is ended.
type load struct {
	good, failed, wrong atomic.Int64
	ended               atomic.Bool
	all                 sync.WaitGroup
}

func startLoad(wrapper *transit.Wrapper) *load {
	l, ctx := &load{}, context.Background()
	for range 4 {
		l.all.Go(func() {
			for n := 0; !l.ended.Load(); n++ {
				text := fmt.Appendf(nil, "%d", n)
				sealed, err := wrapper.Encrypt(ctx, text)
				var opened []byte
				if err == nil {
					opened, err = wrapper.Decrypt(ctx, sealed)
				}
				switch {
				case err != nil:
					l.failed.Add(1)
					time.Sleep(20 * time.Millisecond)
				case !bytes.Equal(opened, text):
					l.wrong.Add(1)
				default:
					l.good.Add(1)
				}
			}
		})
	}
	return l
}

func (l *load) end() string {
	l.ended.Store(true)
	l.all.Wait()
	return fmt.Sprintf("%t %t %d", l.good.Load() > 0, l.failed.Load() > 0, l.wrong.Load())
}
