package sandbox

import (
	"fmt"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// filterRule gives system calls a verdict. It applies to a call if all its conditions hold. The first rule that applies
// decides; a call to which none applies is allowed.
type filterRule struct {
	calls   []uint32 // numbers of system calls
	when    []condition
	verdict bpf.RetConstant
}

// condition compares the low word of an argument with values, after a mask. It holds if the argument is one of them, or
// if negated, if it is none of them.
type condition struct {
	argument uint32 // from 0
	mask     uint32
	values   []uint32
	negated  bool
}

// calls returns the numbers of system calls as a list.
func calls(numbers ...uint32) []uint32 { return numbers }

// all returns conditions as a list.
func all(conditions ...condition) []condition { return conditions }

// argument returns the condition that argument i has one of the values.
func argument(i uint32, values ...uint32) condition { return maskedArgument(i, ^uint32(0), values...) }

// maskedArgument returns the condition that the bits of argument i in a mask have one of the values.
func maskedArgument(i, mask uint32, values ...uint32) condition {
	return condition{argument: i, mask: mask, values: values}
}

// not returns the opposite of a condition.
func not(c condition) condition {
	c.negated = !c.negated
	return c
}

var (
	retKill  = bpf.RetConstant{Val: unix.SECCOMP_RET_KILL_PROCESS}
	retAllow = bpf.RetConstant{Val: unix.SECCOMP_RET_ALLOW}
)

// retErrno returns the verdict that makes a call fail with an error.
func retErrno(errno unix.Errno) bpf.RetConstant {
	return bpf.RetConstant{Val: unix.SECCOMP_RET_ERRNO | uint32(errno)}
}

// What a filter reads of a call is struct seccomp_data; see seccomp(2).
var (
	loadNumber       = bpf.LoadAbsolute{Off: 0, Size: 4}
	loadArchitecture = bpf.LoadAbsolute{Off: 4, Size: 4}
)

// loadArgument returns the instruction that reads the low word of an argument. All supported architectures are
// little-endian.
func loadArgument(i uint32) bpf.Instruction { return bpf.LoadAbsolute{Off: 16 + 8*i, Size: 4} }

// x32Bit is set in the numbers of calls of the x32 ABI.
const x32Bit = 0x40000000

// assembleFilter returns the program of a filter. Before the rules, it kills calls of another architecture, whose
// numbers mean something else (int 0x80), and of x32, and lets calls above lastCall fail with ENOSYS.
func assembleFilter(rules []filterRule) ([]bpf.Instruction, error) {
	var a assembler
	known, native, listed := a.newLabel(), a.newLabel(), a.newLabel()
	a.add(loadArchitecture)
	a.jumpIf(bpf.JumpEqual, auditArch, known)
	a.add(retKill)
	a.place(known)
	a.add(loadNumber)
	a.jumpIf(bpf.JumpLessThan, x32Bit, native)
	a.add(retKill)
	a.place(native)
	a.jumpIf(bpf.JumpLessOrEqual, lastCall, listed)
	a.add(retErrno(unix.ENOSYS))
	a.place(listed)
	for _, r := range rules {
		for _, call := range r.calls {
			a.addRule(call, r.when, r.verdict)
		}
	}
	a.add(retAllow)
	return a.assemble()
}

// addRule adds one rule for one call. The number of the call is in the accumulator before it and after it.
func (a *assembler) addRule(call uint32, when []condition, verdict bpf.RetConstant) {
	otherCall, failed := a.newLabel(), a.newLabel()
	a.jumpIf(bpf.JumpNotEqual, call, otherCall)
	for _, c := range when {
		a.add(loadArgument(c.argument))
		if c.mask != ^uint32(0) {
			a.add(bpf.ALUOpConstant{Op: bpf.ALUOpAnd, Val: c.mask})
		}
		holds := a.newLabel()
		found := holds
		if c.negated {
			found = failed
		}
		for _, value := range c.values {
			a.jumpIf(bpf.JumpEqual, value, found)
		}
		if !c.negated {
			a.jump(failed)
		}
		a.place(holds)
	}
	a.add(verdict)
	a.place(failed)
	if len(when) > 0 {
		a.add(loadNumber)
	}
	a.place(otherCall)
}

// assembler collects instructions whose jumps lead to labels, and computes the distances in the end.
type assembler struct {
	code   []bpf.Instruction
	jumps  []labelledJump
	labels []int // the position of each label
}

// label is a position in the code, which is placed after the jumps to it.
type label int

// labelledJump is a jump whose distance is not known yet.
type labelledJump struct {
	position int // in the code
	target   label
}

func (a *assembler) newLabel() label {
	a.labels = append(a.labels, 0)
	return label(len(a.labels) - 1)
}

// place puts a label before the next instruction.
func (a *assembler) place(l label) { a.labels[l] = len(a.code) }

func (a *assembler) add(code ...bpf.Instruction) { a.code = append(a.code, code...) }

// jump goes on at a label.
func (a *assembler) jump(target label) {
	a.jumps = append(a.jumps, labelledJump{position: len(a.code), target: target})
	a.add(bpf.Jump{})
}

// jumpIf goes on at a label if the accumulator passes a test.
func (a *assembler) jumpIf(test bpf.JumpTest, value uint32, target label) {
	a.jumps = append(a.jumps, labelledJump{position: len(a.code), target: target})
	a.add(bpf.JumpIf{Cond: test, Val: value})
}

// assemble returns the code with the distances of all jumps.
func (a *assembler) assemble() ([]bpf.Instruction, error) {
	for _, j := range a.jumps {
		distance := a.labels[j.target] - j.position - 1
		switch jump := a.code[j.position].(type) {
		case bpf.Jump:
			jump.Skip = uint32(distance)
			a.code[j.position] = jump
		case bpf.JumpIf:
			if distance > 255 {
				return nil, fmt.Errorf("the filter of system calls has a conditional jump over %d instructions, and 255 is the limit", distance)
			}
			jump.SkipTrue = uint8(distance)
			a.code[j.position] = jump
		}
	}
	return a.code, nil
}
