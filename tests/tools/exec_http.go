// SPDX-License-Identifier: BSD-2-Clause
// exec_http.go - HTTP by Go's net/http: usage: exec_http serve ADDRESS FOLDER | exec_http get URL
//
// serve: the files of a folder.  get: 50 requests at once, each on a connection of its own; how many bytes came.
package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
)

func serve(address, folder string) error {
	l, err := net.Listen("tcp4", address)
	if err != nil {
		return err
	}
	return http.Serve(l, http.FileServer(http.Dir(folder)))
}

func get(url string) (int64, error) {
	r, err := http.Get(url)
	if err != nil {
		return 0, err
	}
	defer r.Body.Close()
	return io.Copy(io.Discard, r.Body)
}

func many(url string) error {
	var all sync.WaitGroup
	var bytes atomic.Int64
	failed := make(chan error, 50)
	for i := 0; i < 50; i++ {
		all.Add(1)
		go func() {
			defer all.Done()
			n, err := get(url)
			bytes.Add(n)
			if err != nil {
				failed <- err
			}
		}()
	}
	all.Wait()
	fmt.Println(bytes.Load())
	select {
	case err := <-failed:
		return err
	default:
		return nil
	}
}

func main() {
	var err error
	if os.Args[1] == "serve" {
		err = serve(os.Args[2], os.Args[3])
	} else {
		err = many(os.Args[2])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
