package model

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/timba-arena/timba/internal/kit"
)

func header() Header {
	return Header{Kind: SL, Mode: "tute3", Variant: "ph", Encoding: "scaled", Layers: []int{69, 50, 3}, Output: "softmax", Labels: []int{-5, 0, 12}, Seed: 7, Defects: []string{"truncated"}}
}

func encode(t testing.TB, h Header, x []float32) []byte {
	var b bytes.Buffer
	kit.Must(t, Write(&b, h, func(w io.Writer) error { return WriteFloats(w, x) }))
	return b.Bytes()
}

func decode(data []byte, n int) (Header, []float32, error) {
	h, b, err := Read(bytes.NewReader(data))
	if err != nil {
		return h, nil, err
	}
	x := make([]float32, n)
	if err := ReadFloats(b, x); err != nil {
		return h, nil, err
	}
	return h, x, b.CheckEnd()
}

func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		x := rapid.SliceOfN(rapid.Float32Range(-1e30, 1e30), 0, 5000).Draw(rt, "weights")
		h, got, err := decode(encode(t, header(), x), len(x))
		if err != nil || !reflect.DeepEqual(h, header()) || !slices.Equal(got, x) {
			rt.Fatalf("%+v %v %v", h, got, err)
		}
	})
}

// TestDamage checks that a changed or missing byte in a file is an error.
func TestDamage(t *testing.T) {
	x := make([]float32, 40)
	for i := range x {
		x[i] = float32(math.Sin(float64(i)))
	}
	good := encode(t, header(), x)
	for i := range good {
		for _, bit := range []byte{1, 0x80} {
			bad := slices.Clone(good)
			bad[i] ^= bit
			if h, got, err := decode(bad, len(x)); err == nil && (!reflect.DeepEqual(h, header()) || !slices.Equal(got, x)) {
				t.Errorf("byte %d changed by %d: no error", i, bit)
			}
		}
		if _, _, err := decode(good[:i], len(x)); err == nil {
			t.Errorf("cut off after %d bytes: no error", i)
		}
	}
	if _, _, err := decode(good, len(x)-1); err == nil || !strings.Contains(err.Error(), "longer") {
		t.Errorf("a body that is longer: %v", err)
	}
	if _, _, err := decode(good, len(x)+1); err == nil {
		t.Error("a body that is shorter: no error")
	}
}

func TestReadErrors(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"another file", "PK\x03\x04", "is this a file of timba-lab train"},
		{"an empty file", "", "first line"},
		{"an endless line", strings.Repeat("x", 1<<21), "first line"},
		{"an endless header", "timba-model 1 00000000\n" + strings.Repeat("x", MaxHeader+2), "line 2"},
		{"another header", "timba-model 1 00000000\n{}\n", "checksum"},
	} {
		if _, _, err := Read(strings.NewReader(test.text)); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v", test.name, err)
		}
	}
	for _, h := range []Header{{Kind: "x", Mode: "tute2"}, {Kind: SL, Mode: "x"}} {
		if err := Write(io.Discard, h, func(io.Writer) error { return nil }); err == nil || !strings.Contains(err.Error(), `"x"`) {
			t.Errorf("%+v: %v", h, err)
		}
	}
	for _, x := range []float64{math.NaN(), math.Inf(1)} {
		if _, _, err := decode(encode(t, header(), []float32{float32(x)}), 1); err == nil || !strings.Contains(err.Error(), "not a weight") {
			t.Errorf("%v: %v", x, err)
		}
	}
}

// TestBodyLimit checks that a body which decompresses to more than the limit is an error.
func TestBodyLimit(t *testing.T) {
	_, b, err := Read(bytes.NewReader(encode(t, header(), make([]float32, 100))))
	kit.Must(t, err)
	b.remaining = 10
	if n, err := io.ReadFull(b, make([]byte, 20)); err == nil || n != 10 || !strings.Contains(err.Error(), "longer than") {
		t.Errorf("%d bytes, %v", n, err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(encode(f, header(), []float32{1, 2, 3}))
	f.Add([]byte(fmt.Sprintf("%s 00000000\n{}\n", magic)))
	f.Fuzz(func(t *testing.T, data []byte) {
		if _, b, err := Read(bytes.NewReader(data)); err == nil {
			io.Copy(io.Discard, io.LimitReader(b, 1<<20))
			b.CheckEnd()
		}
	})
}
