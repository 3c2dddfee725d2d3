package apidocs_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/go-cmp/cmp"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/web/api"
	"github.com/timba-arena/timba/web/site/apidocs"
)

// The page shows what an OpenAPI library reads in the document: each operation with its parameters and
// answers, and each schema with its members.
func TestReference(t *testing.T) {
	t.Parallel()
	doc := kit.Get[*openapi3.T](t)(openapi3.NewLoader().LoadFromData(api.Document()))
	page := kit.Get[*apidocs.Page](t)(apidocs.NewPage(api.Document()))
	names := func(list []apidocs.Field) (all []string) {
		for _, f := range list {
			all = append(all, f.Name)
		}
		return all
	}
	got, want := map[string][]string{}, map[string][]string{}
	for _, g := range page.Groups {
		for _, o := range g.Operations {
			about := append([]string{o.ID, o.Scope}, names(o.Parameters)...)
			for _, a := range o.Answers {
				about = append(about, a.Status)
			}
			got[o.Method+" "+o.Path] = about
		}
	}
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			scope := ""
			for _, requirement := range *op.Security {
				scope = requirement["bearer"][0]
			}
			about := []string{op.OperationID, scope}
			for _, p := range op.Parameters {
				about = append(about, p.Value.Name)
			}
			want[method+" "+path] = append(about, slices.Sorted(maps.Keys(op.Responses.Map()))...)
		}
	}
	for _, x := range page.Types {
		got[x.Name] = slices.Sorted(slices.Values(names(x.Members)))
	}
	for name, s := range doc.Components.Schemas {
		want[name] = slices.Sorted(maps.Keys(s.Value.Properties))
		for _, part := range s.Value.AllOf {
			want[name] = slices.Sorted(slices.Values(slices.AppendSeq(want[name], maps.Keys(part.Value.Properties))))
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the page (-document +page):\n%s", diff)
	}
}
