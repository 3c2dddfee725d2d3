package site

import (
	"cmp"
	"slices"
	"strconv"
)

// column is the head of a table's column. Template "heads" writes them.
type column struct {
	Key   string // of its message and of the parameter sort
	Class string // "number" for figures
	URL   string // the table sorted by it; "" if it cannot be
	Sort  string // "ascending", "descending", or "" if it is not sorted by it
}

// order is how a table is sorted: by the parameters sort and order.
type order struct {
	by   string
	down bool
}

// sorting is a column by which rows of a table can be sorted.
type sorting[T any] struct {
	key     string
	class   string
	down    bool // the first click sorts downwards
	compare func(a, b T) int
}

// readOrder reads the parameters sort and order. The first column is the default.
func readOrder[T any](v *visit, columns []sorting[T]) order {
	var keys []string
	for _, c := range columns {
		if c.compare != nil {
			keys = append(keys, c.key)
		}
	}
	q := v.query()
	o := order{by: cmp.Or(q.Choice("sort", keys...), keys[0])}
	at := slices.IndexFunc(columns, func(c sorting[T]) bool { return c.key == o.by })
	o.down = columns[at].down
	if way := q.Choice("order", "asc", "desc"); way != "" {
		o.down = way == "desc"
	}
	return o
}

// sortRows sorts rows, equals in the order that they have.
func sortRows[T any](rows []T, o order, columns []sorting[T]) {
	at := slices.IndexFunc(columns, func(c sorting[T]) bool { return c.key == o.by })
	slices.SortStableFunc(rows, func(a, b T) int {
		if o.down {
			return columns[at].compare(b, a)
		}
		return columns[at].compare(a, b)
	})
}

// heads returns the heads of columns, with addresses that sort by them; a click on the one that
// sorts already turns the order round.
func heads[T any](v *visit, o order, columns []sorting[T]) (list []column) {
	for _, c := range columns {
		head := column{Key: c.key, Class: c.class}
		if c.compare != nil {
			down := c.down
			if c.key == o.by {
				head.Sort, down = "ascending", true
				if o.down {
					head.Sort, down = "descending", false
				}
			}
			r := v.r.Clone(v.ctx())
			q := r.URL.Query()
			q.Set("order", map[bool]string{true: "desc", false: "asc"}[down])
			r.URL.RawQuery = q.Encode()
			head.URL = with(r, "sort", c.key)
		}
		list = append(list, head)
	}
	return list
}

// pager is one page of a list. Template "pager" writes its links.
type pager struct {
	Page, Pages int
	From, To    int // the rows of the page, counted from 1
	Total       int
	Prev, Next  string // addresses, "" at the ends
}

// maxPage is the last page that can be asked for.
const maxPage = 100_000

// pageNumber returns the parameter page.
func (v *visit) pageNumber() int { return int(v.query().Number("page", 1, maxPage, 1)) }

// paged returns the rows of the page that the parameter page names.
func paged[T any](v *visit, rows []T, size int) ([]T, pager) {
	p := pagerOf(v, v.pageNumber(), len(rows), size)
	return rows[(p.Page-1)*size : p.To], p
}

// pagerOf returns a page of a list with so many rows in total, the last one if it has fewer.
func pagerOf(v *visit, page, total, size int) pager {
	p := pager{Total: total, Pages: max(1, (total+size-1)/size)}
	p.Page = min(page, p.Pages)
	p.To = min(p.Page*size, total)
	p.From = min((p.Page-1)*size+1, p.To)
	if p.Page > 1 {
		p.Prev = with(v.r, "page", strconv.Itoa(p.Page-1))
	}
	if p.Page < p.Pages {
		p.Next = with(v.r, "page", strconv.Itoa(p.Page+1))
	}
	return p
}
