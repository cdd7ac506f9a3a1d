// SPDX-License-Identifier: LGPL-2.1-or-later

// D-Bus alone, without queryd's library: Prepare gives a pipe, and docs/wire-format.md says what comes through it.
package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log"
	"math"
	"os"
	"strconv"

	"github.com/godbus/dbus"
)

type values = map[string]dbus.Variant

var little = binary.LittleEndian

func align8(n uint32) uint32 { return (n + 7) &^ 7 }

func parameters(given []interface{}) values {
	named := values{}
	for i, value := range given {
		named[strconv.Itoa(i+1)] = dbus.MakeVariant(value)
	}
	return named
}

// One record: its kind, its count and its body. A large one comes in pieces.
func readRecord(stream io.Reader) (kind byte, count uint32, body []byte, err error) {
	read := func() (header [16]byte, body []byte, err error) {
		if _, err = io.ReadFull(stream, header[:]); err == nil {
			body = make([]byte, little.Uint32(header[0:])-16)
			_, err = io.ReadFull(stream, body)
		}
		return
	}
	header, body, err := read()
	kind, count = header[4], little.Uint32(header[8:])
	if err != nil || kind != 'K' {
		return
	}
	kind, whole := body[0], append([]byte{}, body[16:16+count]...)
	count = little.Uint32(body[4:])
	for err == nil && header[5]&1 == 0 {
		header, body, err = read()
		if err == nil {
			whole = append(whole, body[:little.Uint32(header[8:])]...)
		}
	}
	return kind, count, whole, err
}

func readRow(body []byte, at uint32, nColumns uint32) []interface{} {
	data := body[at+align8(4+4*nColumns):]
	row := make([]interface{}, nColumns)
	begin := uint32(0)
	for i := range row {
		slot := little.Uint32(body[at+4+4*uint32(i):])
		end := slot & 0xfffffff
		switch slot >> 28 {
		case 1:
			row[i] = int64(little.Uint64(data[align8(begin):]))
		case 2:
			row[i] = math.Float64frombits(little.Uint64(data[align8(begin):]))
		case 3:
			row[i] = string(data[begin:end])
			end++ // a NUL follows
		case 4:
			row[i] = data[begin:end]
		}
		begin = end
	}
	return row
}

func query(store dbus.BusObject, text string, each func(row []interface{}), given ...interface{}) error {
	var fd dbus.UnixFD
	var columns []struct{ Name, Type string }
	var info values
	options := values{"transport": dbus.MakeVariant("pipe")}
	call := store.Call("org.queryd.Query1.Prepare", 0, "sql", text, parameters(given), options)
	if err := call.Store(&fd, &columns, &info); err != nil {
		return err
	}
	stream := os.NewFile(uintptr(fd), "result")
	defer stream.Close()
	for {
		kind, count, body, err := readRecord(stream)
		switch {
		case err != nil: // also when the stream ends: only 'E' says that the result is complete
			return err
		case kind == 'E':
			return nil
		case kind == 'X':
			return errors.New(string(body[16 : 16+little.Uint32(body[12:])]))
		case kind == 'R':
			at := uint32(0)
			for ; count > 0; count-- {
				each(readRow(body, at, uint32(len(columns))))
				at += align8(little.Uint32(body[at:]))
			}
		}
	}
}

func run() error {
	bus, err := dbus.SessionBus()
	if err != nil {
		return err
	}
	store := bus.Object("org.queryd.Query1", "/org/queryd/Query1")
	update := func(text string, given ...interface{}) {
		if err == nil {
			err = store.Call("org.queryd.Query1.Update", 0, "sql", text, parameters(given), values{}).Err
		}
	}
	update("CREATE TABLE IF NOT EXISTS album(title TEXT PRIMARY KEY, year INTEGER)")
	update("INSERT OR REPLACE INTO album VALUES (?, ?)", "Kind of Blue", int64(1959))
	update("INSERT OR REPLACE INTO album VALUES (?, ?)", "Revolver", int64(1966))
	update("INSERT OR REPLACE INTO album VALUES (?, ?)", "Dummy", int64(1994))
	if err != nil {
		return err
	}
	return query(store, "SELECT title, year FROM album WHERE year < ? ORDER BY year", func(row []interface{}) {
		fmt.Printf("%s (%d)\n", row[0], row[1])
	}, int64(1990))
}

func main() {
	if err := run(); err != nil {
		log.Fatal(err)
	}
}
