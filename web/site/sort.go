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

// sortColumn is a column by which rows of a table can be sorted.
type sortColumn[T any] struct {
	key        string
	class      string
	descending bool // the first click sorts downwards
	compare    func(a, b T) int
}

// sortRows sorts rows by the parameters sort and order, equals in the order that they have; the first column is the
// default. It returns the heads of the columns, with addresses that sort by them: a click on the one that sorts
// already turns the order round.
func sortRows[T any](v *visit, rows []T, columns []sortColumn[T]) (heads []column) {
	var keys []string
	for _, c := range columns {
		if c.compare != nil {
			keys = append(keys, c.key)
		}
	}
	key := cmp.Or(v.query().Choice("sort", keys...), keys[0])
	by := columns[slices.IndexFunc(columns, func(c sortColumn[T]) bool { return c.key == key })]
	down := by.descending
	if way := v.query().Choice("order", "asc", "desc"); way != "" {
		down = way == "desc"
	}
	slices.SortStableFunc(rows, func(a, b T) int {
		if down {
			return by.compare(b, a)
		}
		return by.compare(a, b)
	})
	for _, c := range columns {
		head := column{Key: c.key, Class: c.class}
		if c.compare != nil {
			next := c.descending
			if c.key == key {
				next = !down
				head.Sort = map[bool]string{true: "descending", false: "ascending"}[down]
			}
			order := map[bool]string{true: "desc", false: "asc"}[next]
			head.URL = addressWith(v.r, "sort", c.key, "order", order)
		}
		heads = append(heads, head)
	}
	return heads
}

// pager is one page of a list. Template "pager" writes its links.
type pager struct {
	Page, Pages       int
	FirstRow, LastRow int // the rows of the page, counted from 1
	Total             int
	Prev, Next        string // addresses, "" at the ends
}

// maxPage is the last page that can be asked for.
const maxPage = 100_000

// pageNumber returns the parameter page.
func (v *visit) pageNumber() int { return int(v.query().Number("page", 1, maxPage, 1)) }

// rowsOfPage returns the rows of the page that the parameter page names.
func rowsOfPage[T any](v *visit, rows []T, size int) ([]T, pager) {
	p := newPager(v, v.pageNumber(), len(rows), size)
	return rows[(p.Page-1)*size : p.LastRow], p
}

// newPager returns a page of a list with so many rows in total, the last one if it has fewer.
func newPager(v *visit, page, total, size int) pager {
	p := pager{Total: total, Pages: max(1, (total+size-1)/size)}
	p.Page = min(page, p.Pages)
	p.LastRow = min(p.Page*size, total)
	p.FirstRow = min((p.Page-1)*size+1, p.LastRow)
	if p.Page > 1 {
		p.Prev = addressWith(v.r, "page", strconv.Itoa(p.Page-1))
	}
	if p.Page < p.Pages {
		p.Next = addressWith(v.r, "page", strconv.Itoa(p.Page+1))
	}
	return p
}
