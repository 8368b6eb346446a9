package keystored

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// DataKeyCacheConfig bounds a cache of data keys.
type DataKeyCacheConfig struct {
	// MaxUses is how many streams one data key seals, and opens; from 1.
	MaxUses int
	// MaxAge is how long a data key is used after it came from the appliance.
	MaxAge time.Duration
	// MaxKeys is how many data keys are kept; the one unused for longest goes first. Zero: 100.
	MaxKeys int
}

// DataKeyCache keeps data keys for reuse, so that many small streams need few requests: KeyOptions takes it. It serves one client, in any
// number of goroutines. While a key is kept, a policy that was withdrawn has no effect on what it opens. A key is overwritten when its
// uses or its time are over, which is looked at whenever the cache is used, and by Clear.
type DataKeyCache struct {
	config DataKeyCacheConfig
	mutex  sync.Mutex
	owner  *Client
	// order has the one unused for longest first.
	order   []string
	entries map[string]*cachedDataKey
}

type cachedDataKey struct {
	DataKey
	until    time.Time
	usesLeft int
}

// NewDataKeyCache makes an empty cache; an error says which bound is none.
func NewDataKeyCache(config DataKeyCacheConfig) (*DataKeyCache, error) {
	if config.MaxKeys == 0 {
		config.MaxKeys = 100
	}
	if config.MaxUses < 1 || config.MaxKeys < 1 || config.MaxAge <= 0 {
		return nil, errors.New("keystored: a cache of data keys needs MaxUses, MaxAge and MaxKeys above zero")
	}
	return &DataKeyCache{config: config, entries: map[string]*cachedDataKey{}}, nil
}

// Len is how many data keys are kept.
func (c *DataKeyCache) Len() int {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.sweep()
	return len(c.entries)
}

// Clear overwrites and forgets all data keys.
func (c *DataKeyCache) Clear() {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	for name := range c.entries {
		c.drop(name)
	}
}

// take answers a copy of a key that is kept, which the caller overwrites; nil for none.
func (c *DataKeyCache) take(owner *Client, name string) (*DataKey, error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.owner == nil {
		c.owner = owner
	}
	if c.owner != owner {
		return nil, errors.New("keystored: a cache of data keys serves one client: make another for this one")
	}
	c.sweep()
	entry := c.entries[name]
	if entry == nil {
		return nil, nil
	}
	copied := entry.DataKey
	copied.Plaintext = append([]byte(nil), entry.Plaintext...)
	if entry.usesLeft--; entry.usesLeft == 0 {
		c.drop(name)
	} else {
		c.order = append(without(c.order, name), name)
	}
	return &copied, nil
}

// keep keeps a copy of a key that was used once.
func (c *DataKeyCache) keep(name string, key *DataKey) {
	if c.config.MaxUses == 1 {
		return
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.drop(name)
	for len(c.order) >= c.config.MaxKeys {
		c.drop(c.order[0])
	}
	kept := *key
	kept.Plaintext = append([]byte(nil), key.Plaintext...)
	c.entries[name] = &cachedDataKey{kept, time.Now().Add(c.config.MaxAge), c.config.MaxUses - 1}
	c.order = append(c.order, name)
}

func (c *DataKeyCache) sweep() {
	now := time.Now()
	for name, entry := range c.entries {
		if !entry.until.After(now) {
			c.drop(name)
		}
	}
}

func (c *DataKeyCache) drop(name string) {
	if entry := c.entries[name]; entry != nil {
		overwrite(entry.Plaintext)
		delete(c.entries, name)
		c.order = without(c.order, name)
	}
}

func without(names []string, name string) []string {
	kept := make([]string, 0, len(names))
	for _, one := range names {
		if one != name {
			kept = append(kept, one)
		}
	}
	return kept
}

func (k *Key) dataKeyToSeal(ctx context.Context) (*DataKey, error) {
	cache, name := k.options.DataKeys, fmt.Sprintf("seal %q %q %x %d", k.name, k.options.Context, k.options.AssociatedData, k.options.KeyVersion)
	if cache == nil {
		return k.GenerateDataKey(ctx, 256)
	}
	if kept, err := cache.take(k.client, name); kept != nil || err != nil {
		return kept, err
	}
	made, err := k.GenerateDataKey(ctx, 256)
	if err == nil {
		cache.keep(name, made)
	}
	return made, err
}

func (k *Key) dataKeyToOpen(ctx context.Context, wrapped string) ([]byte, error) {
	cache, name := k.options.DataKeys, fmt.Sprintf("open %q %q %x %q", k.name, k.options.Context, k.options.AssociatedData, wrapped)
	if cache == nil {
		return k.Decrypt(ctx, wrapped)
	}
	if kept, err := cache.take(k.client, name); err != nil {
		return nil, err
	} else if kept != nil {
		return kept.Plaintext, nil
	}
	opened, err := k.Decrypt(ctx, wrapped)
	if err == nil {
		cache.keep(name, &DataKey{Plaintext: opened, Ciphertext: wrapped})
	}
	return opened, err
}
