;;; SPDX-License-Identifier: BSD-2-Clause
;;; usage: ecl --norc --shell compile_programs.lisp COMPILER PROGRAMS TIMES
;;; Loads the compiler (compiler.lisp, or what compile-file makes of it), lets it compile a text of Scheme so many
;;; times and run it once, and prints the value. The last collection is that of a heap with garbage.

(destructuring-bind (compiler programs times) (last (ext:command-args) 3)
  (load compiler :verbose nil)
  (let ((text (with-open-file (in programs)
                (let ((text (make-string (file-length in))))
                  (subseq text 0 (read-sequence text in))))))
    (print (funcall (intern "WORK" "SCHEME") text (parse-integer times)))
    (terpri)))
(ext:gc t)
(ext:quit 0)
