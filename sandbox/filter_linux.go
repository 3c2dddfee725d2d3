package sandbox

import (
	"fmt"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// filterRule is a rule of the system call filter. It applies to each of the listed calls if all conditions hold. The
// first rule that applies to a call decides; if none applies, the call is allowed.
type filterRule struct {
	calls   []uint32 // numbers of system calls
	when    []condition
	verdict bpf.RetConstant
}

// condition tests one argument of a system call. The low 32 bits of the argument are combined with mask by AND. The
// condition holds if the result is one of the values or, if negated is set, none of them.
type condition struct {
	argument uint32 // index of the argument, counted from 0
	mask     uint32
	values   []uint32
	negated  bool
}

func calls(numbers ...uint32) []uint32 { return numbers }

func all(conditions ...condition) []condition { return conditions }

// argument returns the condition that argument i of a system call, counted from 0, is one of the values.
func argument(i uint32, values ...uint32) condition { return maskedArgument(i, ^uint32(0), values...) }

// maskedArgument returns the condition that argument i of a system call, combined with mask by AND, is one of the
// values.
func maskedArgument(i, mask uint32, values ...uint32) condition {
	return condition{argument: i, mask: mask, values: values}
}

func not(c condition) condition {
	c.negated = !c.negated
	return c
}

var (
	retKill  = bpf.RetConstant{Val: unix.SECCOMP_RET_KILL_PROCESS}
	retAllow = bpf.RetConstant{Val: unix.SECCOMP_RET_ALLOW}
)

func retErrno(errno unix.Errno) bpf.RetConstant {
	return bpf.RetConstant{Val: unix.SECCOMP_RET_ERRNO | uint32(errno)}
}

// loadNumber and loadArchitecture are instructions that load the number and the architecture of a system call from
// the struct seccomp_data, in which a filter sees the call; see seccomp(2).
var (
	loadNumber       = bpf.LoadAbsolute{Off: 0, Size: 4}
	loadArchitecture = bpf.LoadAbsolute{Off: 4, Size: 4}
)

// loadArgument returns the instruction that loads the low 32 bits of argument i of a system call, counted from 0. The
// offset is right only for little-endian processors; no others are supported.
func loadArgument(i uint32) bpf.Instruction { return bpf.LoadAbsolute{Off: 16 + 8*i, Size: 4} }

// x32Bit is the bit that is set in all system call numbers of the x32 ABI.
const x32Bit = 0x40000000

// assembleFilter returns the code of a seccomp filter with the given rules. Before the rules, the filter checks the
// number of the system call:
//   - It kills a process that makes a system call of another architecture (int 0x80) or of x32, because the
//     numbers have other meanings there.
//   - System calls with numbers above lastCall fail with ENOSYS.
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

// addRule adds the code of one rule. A system call with the number call gets the verdict if all conditions in the
// list when hold. Both before and after this code, the accumulator contains the number of the current system call.
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

// assembler builds a program that contains jumps to labels. Its method assemble computes the distances of the jumps.
type assembler struct {
	code   []bpf.Instruction
	jumps  []labelledJump
	labels []int // position of each label in code
}

// label stands for a position in the code. It is an index into assembler.labels, and can be used before it is placed.
type label int

// labelledJump is a jump to a label.
type labelledJump struct {
	position int // index of the jump in code
	target   label
}

func (a *assembler) newLabel() label {
	a.labels = append(a.labels, 0)
	return label(len(a.labels) - 1)
}

func (a *assembler) place(l label) { a.labels[l] = len(a.code) }

func (a *assembler) add(code ...bpf.Instruction) { a.code = append(a.code, code...) }

func (a *assembler) jump(target label) {
	a.jumps = append(a.jumps, labelledJump{position: len(a.code), target: target})
	a.add(bpf.Jump{})
}

// jumpIf adds a conditional jump to target. The test compares the accumulator with value.
func (a *assembler) jumpIf(test bpf.JumpTest, value uint32, target label) {
	a.jumps = append(a.jumps, labelledJump{position: len(a.code), target: target})
	a.add(bpf.JumpIf{Cond: test, Val: value})
}

// assemble sets the distances of all jumps and returns the code. It returns an error if a conditional jump is too
// long.
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
