; The inner loops of passes over float64 records, in the assembly language of LLVM (see kernels.py).
; Each does what a few lines of numpy do, on the same records to the same last bit: no operation may be reordered.
; A record is missing if it is not a number.

declare double @llvm.rint.f64(double)
declare i8 @llvm.ctpop.i8(i8)

; table[bits of a record >> shift] += 1, for records that are not missing
define void @count_floats(ptr noalias %values, i64 %n, i64 %shift, ptr noalias %table) {
entry:
  %some = icmp sgt i64 %n, 0
  br i1 %some, label %each, label %done
each:
  %i = phi i64 [0, %entry], [%next, %after]
  %at = getelementptr i64, ptr %values, i64 %i
  %bits = load i64, ptr %at
  %size = and i64 %bits, 9223372036854775807
  %present = icmp ule i64 %size, 9218868437227405312 ; the bits of infinity
  br i1 %present, label %count, label %after
count:
  %key = lshr i64 %bits, %shift
  %place = getelementptr i32, ptr %table, i64 %key
  %before = load i32, ptr %place
  %one_more = add i32 %before, 1
  store i32 %one_more, ptr %place
  br label %after
after:
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %each, label %done
done:
  ret void
}

; the same with the bits of rint(record / unit)
define void @count_points(ptr noalias %values, i64 %n, i64 %shift, ptr noalias %table, double %unit) {
entry:
  %some = icmp sgt i64 %n, 0
  br i1 %some, label %each, label %done
each:
  %i = phi i64 [0, %entry], [%next, %after]
  %at = getelementptr double, ptr %values, i64 %i
  %x = load double, ptr %at
  %present = fcmp ord double %x, 0.0
  br i1 %present, label %count, label %after
count:
  %parts = fdiv double %x, %unit
  %point = call double @llvm.rint.f64(double %parts)
  %bits = bitcast double %point to i64
  %key = lshr i64 %bits, %shift
  %place = getelementptr i32, ptr %table, i64 %key
  %before = load i32, ptr %place
  %one_more = add i32 %before, 1
  store i32 %one_more, ptr %place
  br label %after
after:
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %each, label %done
done:
  ret void
}

; the same with the bits of (record, kept from low to high, - center) * scale
define void @count_deviations(ptr noalias %values, i64 %n, i64 %shift, ptr noalias %table, double %low, double %high,
                              double %center, double %scale) {
entry:
  %some = icmp sgt i64 %n, 0
  br i1 %some, label %each, label %done
each:
  %i = phi i64 [0, %entry], [%next, %after]
  %at = getelementptr double, ptr %values, i64 %i
  %x = load double, ptr %at
  %present = fcmp ord double %x, 0.0
  br i1 %present, label %count, label %after
count:
  %is_less = fcmp olt double %x, %low
  %raised = select i1 %is_less, double %low, double %x
  %is_more = fcmp ogt double %raised, %high
  %kept = select i1 %is_more, double %high, double %raised
  %away = fsub double %kept, %center
  %scaled = fmul double %away, %scale
  %bits = bitcast double %scaled to i64
  %key = lshr i64 %bits, %shift
  %place = getelementptr i32, ptr %table, i64 %key
  %before = load i32, ptr %place
  %one_more = add i32 %before, 1
  store i32 %one_more, ptr %place
  br label %after
after:
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %each, label %done
done:
  ret void
}

; copies the records from low to high, at most n of them and one more place to write to;
; numbers[0] is how many these are, numbers[1] how many lie below
define void @between(ptr noalias %values, i64 %n, double %low, double %high, ptr noalias %out, ptr noalias %numbers) {
entry:
  %low1 = insertelement <8 x double> poison, double %low, i64 0
  %lows = shufflevector <8 x double> %low1, <8 x double> poison, <8 x i32> zeroinitializer
  %high1 = insertelement <8 x double> poison, double %high, i64 0
  %highs = shufflevector <8 x double> %high1, <8 x double> poison, <8 x i32> zeroinitializer
  br label %block
block:
  %b = phi i64 [0, %entry], [%end, %advance]
  %k = phi i64 [0, %entry], [%k.after, %advance]
  %less = phi i64 [0, %entry], [%less.after, %advance]
  %end = add i64 %b, 8
  %fits = icmp sle i64 %end, %n
  br i1 %fits, label %eight, label %rest
eight:
  %from = getelementptr double, ptr %values, i64 %b
  %x8 = load <8 x double>, ptr %from, align 8
  %above8 = fcmp oge <8 x double> %x8, %lows
  %within8 = fcmp ole <8 x double> %x8, %highs
  %inside8 = and <8 x i1> %above8, %within8
  %inside = bitcast <8 x i1> %inside8 to i8
  %below8 = fcmp olt <8 x double> %x8, %lows
  %below = bitcast <8 x i1> %below8 to i8
  %number = call i8 @llvm.ctpop.i8(i8 %below)
  %number64 = zext i8 %number to i64
  %less.after = add i64 %less, %number64
  %any = icmp ne i8 %inside, 0
  br i1 %any, label %each, label %advance
each:
  %i = phi i64 [%b, %eight], [%i.next, %each]
  %k.each = phi i64 [%k, %eight], [%k.next, %each]
  %at = getelementptr double, ptr %values, i64 %i
  %x = load double, ptr %at
  %to = getelementptr double, ptr %out, i64 %k.each
  store double %x, ptr %to
  %is_above = fcmp oge double %x, %low
  %is_within = fcmp ole double %x, %high
  %is_inside = and i1 %is_above, %is_within
  %one = zext i1 %is_inside to i64
  %k.next = add i64 %k.each, %one
  %i.next = add i64 %i, 1
  %each.more = icmp slt i64 %i.next, %end
  br i1 %each.more, label %each, label %advance
advance:
  %k.after = phi i64 [%k, %eight], [%k.next, %each]
  br label %block
rest:
  %rest.some = icmp slt i64 %b, %n
  br i1 %rest.some, label %last, label %done
last:
  %j = phi i64 [%b, %rest], [%j.next, %last]
  %k.last = phi i64 [%k, %rest], [%k.last.next, %last]
  %less.last = phi i64 [%less, %rest], [%less.last.next, %last]
  %last.at = getelementptr double, ptr %values, i64 %j
  %y = load double, ptr %last.at
  %last.to = getelementptr double, ptr %out, i64 %k.last
  store double %y, ptr %last.to
  %y.above = fcmp oge double %y, %low
  %y.within = fcmp ole double %y, %high
  %y.inside = and i1 %y.above, %y.within
  %y.one = zext i1 %y.inside to i64
  %k.last.next = add i64 %k.last, %y.one
  %y.below = fcmp olt double %y, %low
  %y.less = zext i1 %y.below to i64
  %less.last.next = add i64 %less.last, %y.less
  %j.next = add i64 %j, 1
  %last.more = icmp slt i64 %j.next, %n
  br i1 %last.more, label %last, label %done
done:
  %k.done = phi i64 [%k, %rest], [%k.last.next, %last]
  %less.done = phi i64 [%less, %rest], [%less.last.next, %last]
  store i64 %k.done, ptr %numbers
  %second = getelementptr i64, ptr %numbers, i64 1
  store i64 %less.done, ptr %second
  ret void
}

; copies the records with touched[bits >> shift] = 1; numbers[0] is how many these are
define void @touched(ptr noalias %values, i64 %n, i64 %shift, ptr noalias %touched, ptr noalias %out,
                     ptr noalias %numbers) {
entry:
  %some = icmp sgt i64 %n, 0
  br i1 %some, label %each, label %done
each:
  %i = phi i64 [0, %entry], [%next, %each]
  %k = phi i64 [0, %entry], [%k.next, %each]
  %at = getelementptr i64, ptr %values, i64 %i
  %bits = load i64, ptr %at
  %to = getelementptr i64, ptr %out, i64 %k
  store i64 %bits, ptr %to
  %key = lshr i64 %bits, %shift
  %place = getelementptr i8, ptr %touched, i64 %key
  %is_touched = load i8, ptr %place
  %one = zext i8 %is_touched to i64
  %k.next = add i64 %k, %one
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %each, label %done
done:
  %k.done = phi i64 [0, %entry], [%k.next, %each]
  store i64 %k.done, ptr %numbers
  ret void
}

; numbers[0]: how many records are not missing; numbers[1]: the sum, modulo 2**64, of their patterns
; of (record * scale, kept from low to high) + 1.5 * 2**52
define void @lattice(ptr noalias %values, i64 %n, double %scale, double %low, double %high, ptr noalias %numbers) {
entry:
  %some = icmp sgt i64 %n, 0
  br i1 %some, label %each, label %done
each:
  %i = phi i64 [0, %entry], [%next, %each]
  %count = phi i64 [0, %entry], [%count.next, %each]
  %sum = phi i64 [0, %entry], [%sum.next, %each]
  %at = getelementptr double, ptr %values, i64 %i
  %x = load double, ptr %at
  %present = fcmp ord double %x, 0.0
  %scaled = fmul double %x, %scale
  %is_more = fcmp ogt double %scaled, %low
  %raised = select i1 %is_more, double %scaled, double %low
  %is_less = fcmp olt double %raised, %high
  %kept = select i1 %is_less, double %raised, double %high
  %moved = fadd double %kept, 6755399441055744.0
  %pattern = bitcast double %moved to i64
  %part = select i1 %present, i64 %pattern, i64 0
  %sum.next = add i64 %sum, %part
  %one = zext i1 %present to i64
  %count.next = add i64 %count, %one
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %each, label %done
done:
  %count.done = phi i64 [0, %entry], [%count.next, %each]
  %sum.done = phi i64 [0, %entry], [%sum.next, %each]
  store i64 %count.done, ptr %numbers
  %second = getelementptr i64, ptr %numbers, i64 1
  store i64 %sum.done, ptr %second
  ret void
}

; the same of ((rint(record * scale), kept from low to high, - center) / far)**2 * 2**40 + 1.5 * 2**52
define void @squares(ptr noalias %values, i64 %n, double %scale, double %low, double %high, double %center, double %far,
                     ptr noalias %numbers) {
entry:
  %some = icmp sgt i64 %n, 0
  br i1 %some, label %each, label %done
each:
  %i = phi i64 [0, %entry], [%next, %each]
  %count = phi i64 [0, %entry], [%count.next, %each]
  %sum = phi i64 [0, %entry], [%sum.next, %each]
  %at = getelementptr double, ptr %values, i64 %i
  %x = load double, ptr %at
  %present = fcmp ord double %x, 0.0
  %scaled = fmul double %x, %scale
  %is_more = fcmp ogt double %scaled, %low
  %raised = select i1 %is_more, double %scaled, double %low
  %is_less = fcmp olt double %raised, %high
  %kept = select i1 %is_less, double %raised, double %high
  %moved = fadd double %kept, 6755399441055744.0
  %whole = fsub double %moved, 6755399441055744.0
  %away = fsub double %whole, %center
  %part_of = fdiv double %away, %far
  %square = fmul double %part_of, %part_of
  %large = fmul double %square, 1099511627776.0
  %last = fadd double %large, 6755399441055744.0
  %pattern = bitcast double %last to i64
  %part = select i1 %present, i64 %pattern, i64 0
  %sum.next = add i64 %sum, %part
  %one = zext i1 %present to i64
  %count.next = add i64 %count, %one
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %each, label %done
done:
  %count.done = phi i64 [0, %entry], [%count.next, %each]
  %sum.done = phi i64 [0, %entry], [%sum.next, %each]
  store i64 %count.done, ptr %numbers
  %second = getelementptr i64, ptr %numbers, i64 1
  store i64 %sum.done, ptr %second
  ret void
}
