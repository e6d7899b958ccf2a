;;; SPDX-License-Identifier: BSD-2-Clause
;;; A compiler for a subset of Scheme, in Common Lisp: reads text, expands derived forms, makes a tree with
;;; resolved variables, folds constants and calls of known lambdas, finds what closures capture, and writes code
;;; for a stack machine, which runs it.
;;;
;;; (compile-and-run TEXT) returns the value of the last form. (work TEXT TIMES) compiles a text so often and runs
;;; it once; *units* keeps what was compiled, as a system with many files would.

(defpackage "SCHEME" (:use "COMMON-LISP") (:export "COMPILE-AND-RUN" "WORK" "*UNITS*"))
(in-package "SCHEME")

(defvar *symbols* (make-hash-table :test 'equal) "Symbols of Scheme by their names.")
(defvar *globals* (make-hash-table :test 'eq) "The cell of each global variable.")
(defvar *units* nil "What was compiled, the newest first.")

;;; ---- trees ----

(defstruct variable name assigned (uses 0))
(defstruct node)
(defstruct (constant (:include node)) value)
(defstruct (reference (:include node)) variable)
(defstruct (global (:include node)) cell)
(defstruct (assignment (:include node)) target value)
(defstruct (branch (:include node)) test then else)
(defstruct (abstraction (:include node)) parameters body free)
(defstruct (application (:include node)) function arguments)
(defstruct (sequence-of (:include node)) first second)
(defstruct cell name value)

(defclass unit ()
  ((name :initarg :name :reader unit-name)
   (tree :initarg :tree :reader unit-tree :documentation "For functions that may be compiled inline.")
   (code :initarg :code :accessor unit-code)))

;;; ---- text to forms ----

(defun scheme-symbol (name)
  (or (gethash name *symbols*)
      (setf (gethash name *symbols*) (make-symbol name))))

(defun delimiter-p (character)
  (or (null character) (find character '(#\Space #\Newline #\Tab #\( #\) #\" #\;))))

(defun skip-blanks (text at)
  (loop
    (cond ((>= at (length text)) (return at))
          ((char= (char text at) #\;) (setf at (or (position #\Newline text :start at) (length text))))
          ((find (char text at) '(#\Space #\Newline #\Tab)) (incf at))
          (t (return at)))))

(defun parse-atom (token)
  (cond ((string= token "#t") t)
        ((string= token "#f") nil)
        ((every #'digit-char-p token) (parse-integer token))
        ((and (find #\. token) (digit-char-p (char token 0))) (parse-float token))
        (t (scheme-symbol token))))

(defun parse-float (token)
  (let* ((point (position #\. token))
         (digits (- (length token) point 1)))
    (/ (float (parse-integer (remove #\. token)) 1d0) (expt 10d0 digits))))

(defun read-form (text at)
  "Returns a form and the place behind it."
  (setf at (skip-blanks text at))
  (case (char text at)
    (#\( (read-list text (1+ at)))
    (#\' (multiple-value-bind (form end) (read-form text (1+ at))
           (values (list (scheme-symbol "quote") form) end)))
    (#\" (let ((end (position #\" text :start (1+ at))))
           (values (subseq text (1+ at) end) (1+ end))))
    (t (let ((end (or (position-if #'delimiter-p text :start at) (length text))))
         (values (parse-atom (subseq text at end)) end)))))

(defun read-list (text at)
  (let ((forms '()))
    (loop
      (setf at (skip-blanks text at))
      (when (char= (char text at) #\))
        (return (values (nreverse forms) (1+ at))))
      (multiple-value-bind (form end) (read-form text at)
        (push form forms)
        (setf at end)))))

(defun read-program (text)
  (let ((forms '()) (at (skip-blanks text 0)))
    (loop while (< at (length text))
          do (multiple-value-bind (form end) (read-form text at)
               (push form forms)
               (setf at (skip-blanks text end))))
    (nreverse forms)))

;;; ---- derived forms ----

(defmacro define-words (&rest names)
  `(progn ,@(loop for name in names
                  collect `(defvar ,(intern (format nil "+~A+" (string-upcase name))) (scheme-symbol ,name)))))

(define-words "quote" "lambda" "if" "set!" "begin" "define" "let" "let*" "letrec" "cond" "else" "and" "or" "when" "not")

(defun expand-body (forms)
  (cond ((null forms) nil)
        ((null (cdr forms)) (first forms))
        (t (cons +begin+ forms))))

(defun expand-cond (clauses)
  (if (null clauses)
      nil
      (let ((clause (first clauses)))
        (if (eq (first clause) +else+)
            (expand-body (rest clause))
            (list +if+ (first clause) (expand-body (rest clause)) (expand-cond (rest clauses)))))))

(defun expand-or (forms)
  (if (null (rest forms))
      (first forms)
      (let ((temporary (make-symbol "or")))
        (list +let+ (list (list temporary (first forms)))
              (list +if+ temporary temporary (expand-or (rest forms)))))))

(defun expand-letrec (bindings body)
  `(,+let+ ,(mapcar (lambda (binding) (list (first binding) nil)) bindings)
    ,@(mapcar (lambda (binding) (list +set!+ (first binding) (second binding))) bindings)
    ,@body))

(defun expand-let (form)
  (destructuring-bind (bindings &rest body) (rest form)
    (if (and bindings (symbolp bindings))
        (destructuring-bind (inner &rest forms) body ; a named let
          `((,+letrec+ ((,bindings (,+lambda+ ,(mapcar #'first inner) ,@forms))) ,bindings)
            ,@(mapcar #'second inner)))
        `((,+lambda+ ,(mapcar #'first bindings) ,@body) ,@(mapcar #'second bindings)))))

(defun expand-derived (form)
  "Returns a form that means the same, and whether it is another one."
  (let ((word (first form)))
    (cond ((eq word +cond+) (values (expand-cond (rest form)) t))
          ((eq word +let+) (values (expand-let form) t))
          ((eq word +let*+)
           (let ((bindings (second form)))
             (values (if (rest bindings)
                         `(,+let+ (,(first bindings)) (,+let*+ ,(rest bindings) ,@(cddr form)))
                         `(,+let+ ,bindings ,@(cddr form)))
                     t)))
          ((eq word +letrec+) (values (expand-letrec (second form) (cddr form)) t))
          ((eq word +when+) (values (list +if+ (second form) (expand-body (cddr form)) nil) t))
          ((eq word +and+)
           (values (if (cddr form) (list +if+ (second form) (cons +and+ (cddr form)) nil) (second form)) t))
          ((eq word +or+) (values (expand-or (rest form)) t))
          (t (values form nil)))))

;;; ---- forms to trees ----

(defun find-cell (name)
  (or (gethash name *globals*)
      (setf (gethash name *globals*) (make-cell :name name))))

(defun resolve (name scope)
  (let ((bound (assoc name scope)))
    (cond (bound (incf (variable-uses (cdr bound)))
                 (make-reference :variable (cdr bound)))
          (t (make-global :cell (find-cell name))))))

(defun analyze-body (forms scope)
  (if (null (rest forms))
      (analyze (first forms) scope)
      (make-sequence-of :first (analyze (first forms) scope) :second (analyze-body (rest forms) scope))))

(defun analyze-lambda (parameters body scope)
  (let ((variables (mapcar (lambda (name) (make-variable :name name)) parameters)))
    (make-abstraction :parameters variables
                      :body (analyze-body body (append (mapcar #'cons parameters variables) scope)))))

(defun analyze-assignment (form scope)
  (let ((target (resolve (second form) scope)))
    (when (reference-p target)
      (setf (variable-assigned (reference-variable target)) t))
    (make-assignment :target target :value (analyze (third form) scope))))

(defun analyze (form scope)
  (cond ((and form (symbolp form) (not (eq form t))) (resolve form scope))
        ((atom form) (make-constant :value form))
        (t (multiple-value-bind (expanded derived) (expand-derived form)
             (if derived
                 (analyze expanded scope)
                 (analyze-core form (first form) scope))))))

(defun analyze-core (form word scope)
  (cond ((eq word +quote+) (make-constant :value (second form)))
        ((eq word +if+) (make-branch :test (analyze (second form) scope)
                                     :then (analyze (third form) scope)
                                     :else (analyze (fourth form) scope)))
        ((eq word +lambda+) (analyze-lambda (second form) (cddr form) scope))
        ((eq word +begin+) (analyze-body (rest form) scope))
        ((eq word +set!+) (analyze-assignment form scope))
        ((eq word +define+)
         (let ((head (second form)))
           (if (consp head)
               (make-assignment :target (make-global :cell (find-cell (first head)))
                                :value (analyze-lambda (rest head) (cddr form) scope))
               (make-assignment :target (make-global :cell (find-cell head))
                                :value (analyze (third form) scope)))))
        (t (make-application :function (analyze word scope)
                             :arguments (mapcar (lambda (argument) (analyze argument scope)) (rest form))))))

;;; ---- folding ----

(defgeneric fold-tree (node)
  (:documentation "Returns a simpler tree that means the same."))

(defmethod fold-tree ((node node)) node)

(defmethod fold-tree ((node assignment))
  (make-assignment :target (assignment-target node) :value (fold-tree (assignment-value node))))

(defmethod fold-tree ((node branch))
  (let ((test (fold-tree (branch-test node))))
    (if (constant-p test)
        (fold-tree (if (constant-value test) (branch-then node) (branch-else node)))
        (make-branch :test test :then (fold-tree (branch-then node)) :else (fold-tree (branch-else node))))))

(defmethod fold-tree ((node abstraction))
  (make-abstraction :parameters (abstraction-parameters node) :body (fold-tree (abstraction-body node))))

(defmethod fold-tree ((node sequence-of))
  (let ((first (fold-tree (sequence-of-first node))))
    (if (constant-p first)
        (fold-tree (sequence-of-second node))
        (make-sequence-of :first first :second (fold-tree (sequence-of-second node))))))

(defun foldable-p (function arguments)
  (and (global-p function)
       (member (symbol-name (cell-name (global-cell function))) '("+" "-" "*") :test #'string=)
       (every #'constant-p arguments)))

(defmethod fold-tree ((node application))
  (let ((function (fold-tree (application-function node)))
        (arguments (mapcar #'fold-tree (application-arguments node))))
    (if (foldable-p function arguments)
        (make-constant :value (apply (cell-value (global-cell function)) (mapcar #'constant-value arguments)))
        (make-application :function function :arguments arguments))))

;;; ---- what closures capture ----

(defun without (variables bound)
  (remove-if (lambda (variable) (member variable bound)) variables))

(defgeneric free-variables (node)
  (:documentation "Returns the variables that a tree uses and does not bind. Notes them in abstractions."))

(defmethod free-variables ((node node)) '())
(defmethod free-variables ((node reference)) (list (reference-variable node)))
(defmethod free-variables ((node assignment))
  (union (free-variables (assignment-target node)) (free-variables (assignment-value node))))
(defmethod free-variables ((node branch))
  (union (free-variables (branch-test node))
         (union (free-variables (branch-then node)) (free-variables (branch-else node)))))
(defmethod free-variables ((node sequence-of))
  (union (free-variables (sequence-of-first node)) (free-variables (sequence-of-second node))))
(defmethod free-variables ((node application))
  (reduce #'union (mapcar #'free-variables (application-arguments node))
          :initial-value (free-variables (application-function node))))
(defmethod free-variables ((node abstraction))
  (setf (abstraction-free node)
        (without (free-variables (abstraction-body node)) (abstraction-parameters node))))

;;; ---- code ----

(defvar *code* nil "Instructions, the last first.")

(defun emit (operation &rest operands)
  (push (cons operation operands) *code*))

(defun place-of (variable frame)
  "Where a variable lies while code of an abstraction runs: its frame has parameters, then captures."
  (position variable frame))

(defun generate-reference (variable frame)
  (emit :local (place-of variable frame))
  (when (variable-assigned variable)
    (emit :unbox)))

(defgeneric generate (node frame tail)
  (:documentation "Emits code that pushes the value of a tree."))

(defmethod generate ((node constant) frame tail)
  (declare (ignore frame tail))
  (emit :constant (constant-value node)))

(defmethod generate ((node reference) frame tail)
  (declare (ignore tail))
  (generate-reference (reference-variable node) frame))

(defmethod generate ((node global) frame tail)
  (declare (ignore frame tail))
  (emit :global (global-cell node)))

(defmethod generate ((node assignment) frame tail)
  (declare (ignore tail))
  (generate (assignment-value node) frame nil)
  (let ((target (assignment-target node)))
    (if (global-p target)
        (emit :define (global-cell target))
        (emit :assign (place-of (reference-variable target) frame)))))

(defmethod generate ((node branch) frame tail)
  (let ((else (list :label)) (end (list :label)))
    (generate (branch-test node) frame nil)
    (emit :jump-if-false else)
    (generate (branch-then node) frame tail)
    (emit :jump end)
    (push else *code*)
    (generate (branch-else node) frame tail)
    (push end *code*)))

(defmethod generate ((node sequence-of) frame tail)
  (generate (sequence-of-first node) frame nil)
  (emit :drop)
  (generate (sequence-of-second node) frame tail))

(defmethod generate ((node application) frame tail)
  (generate (application-function node) frame nil)
  (dolist (argument (application-arguments node))
    (generate argument frame nil))
  (emit (if tail :tail-call :call) (length (application-arguments node))))

(defmethod generate ((node abstraction) frame tail)
  (declare (ignore tail))
  (dolist (variable (abstraction-free node))
    (emit :local (place-of variable frame)))
  (emit :closure (assemble-abstraction node) (length (abstraction-free node))))

(defun assemble-abstraction (node)
  (let ((*code* '())
        (frame (append (abstraction-parameters node) (abstraction-free node))))
    (loop for variable in (abstraction-parameters node) for place from 0
          when (variable-assigned variable)
            do (emit :box place))
    (generate (abstraction-body node) frame t)
    (emit :return)
    (assemble (reverse *code*))))

(defun assemble (instructions)
  "Returns a vector of the instructions. Labels become places in it."
  (let ((places (make-hash-table :test 'eq)) (at 0))
    (dolist (instruction instructions)
      (if (eq (first instruction) :label)
          (setf (gethash instruction places) at)
          (incf at)))
    (let ((code (make-array at)))
      (setf at 0)
      (dolist (instruction instructions code)
        (unless (eq (first instruction) :label)
          (setf (svref code at)
                (if (member (first instruction) '(:jump :jump-if-false))
                    (cons (first instruction) (gethash (second instruction) places))
                    (cons (first instruction)
                          (if (cddr instruction) (rest instruction) (second instruction)))))
          (incf at))))))

;;; ---- the machine ----

(defstruct procedure code captured)
(defstruct activation code at frame outer)

(defun enter (procedure arguments)
  (let ((frame (concatenate 'simple-vector arguments (procedure-captured procedure))))
    (values (procedure-code procedure) frame)))

(defun pop-arguments (stack count)
  (let ((arguments '()))
    (dotimes (i count (values arguments stack))
      (push (pop stack) arguments))))

(defun run-code (code)
  (let ((at 0) (frame #()) (stack '()) (outer nil))
    (macrolet ((call (tail)
                 `(multiple-value-bind (arguments rest) (pop-arguments stack operand)
                    (let ((function (pop rest)))
                      (setf stack rest)
                      (cond ((functionp function) (push (apply function arguments) stack))
                            (t ,@(unless tail
                                   '((setf outer (make-activation :code code :at at :frame frame :outer outer))))
                               (multiple-value-setq (code frame) (enter function arguments))
                               (setf at 0)))))))
      (loop
        (let* ((instruction (svref code at)) (operand (cdr instruction)))
          (incf at)
          (ecase (car instruction)
            (:constant (push operand stack))
            (:local (push (svref frame operand) stack))
            (:global (push (cell-value operand) stack))
            (:define (setf (cell-value operand) (first stack)))
            (:assign (setf (car (svref frame operand)) (first stack)))
            (:box (setf (svref frame operand) (list (svref frame operand))))
            (:unbox (push (car (pop stack)) stack))
            (:jump (setf at operand))
            (:jump-if-false (unless (pop stack) (setf at operand)))
            (:drop (pop stack))
            (:closure (multiple-value-bind (captured rest) (pop-arguments stack (second operand))
                        (setf stack (cons (make-procedure :code (first operand) :captured captured) rest))))
            (:call (call nil))
            (:tail-call (call t))
            (:return
              (when (null outer)
                (return (first stack)))
              (setf code (activation-code outer) at (activation-at outer)
                    frame (activation-frame outer) outer (activation-outer outer)))))))))

(defun define-primitives ()
  (loop for (name . function) in `(("+" . ,#'+) ("-" . ,#'-) ("*" . ,#'*) ("=" . ,#'=) ("<" . ,#'<) (">" . ,#'>)
                                   ("/" . ,#'/) ("quotient" . ,#'truncate) ("remainder" . ,#'rem) ("cons" . ,#'cons)
                                   ("car" . ,#'car) ("cdr" . ,#'cdr) ("null?" . ,#'null) ("not" . ,#'not)
                                   ("list" . ,#'list) ("sqrt" . ,#'sqrt) ("append" . ,#'append)
                                   ("vector-ref" . ,#'svref) ("length" . ,#'length)
                                   ("string-append" . ,(lambda (&rest parts) (apply #'concatenate 'string parts)))
                                   ("make-vector" . ,(lambda (n value) (make-array n :initial-element value)))
                                   ("vector-set!" . ,(lambda (vector i value) (setf (svref vector i) value))))
        do (setf (cell-value (find-cell (scheme-symbol name))) function)))

;;; ---- all of it ----

(defun definition-name (form)
  (if (and (consp form) (eq (first form) +define+))
      (if (consp (second form)) (first (second form)) (second form))
      nil))

(defun compile-form (form)
  "Returns the unit of a form on the outermost level."
  (let* ((tree (fold-tree (analyze form '())))
         (program (make-abstraction :parameters '() :body tree)))
    (free-variables program)
    (make-instance 'unit :name (definition-name form) :tree tree :code (assemble-abstraction program))))

(defun compile-program (text)
  (when (zerop (hash-table-count *globals*))
    (define-primitives))
  (mapcar #'compile-form (read-program text)))

(defun keep-units (units)
  (dolist (unit units units)
    (push unit *units*)))

(defun run-units (units)
  (let ((value nil))
    (dolist (unit units value)
      (setf value (run-code (unit-code unit))))))

(defun compile-and-run (text)
  (run-units (keep-units (compile-program text))))

(defun work (text times)
  (dotimes (i (1- times))
    (keep-units (compile-program text)))
  (compile-and-run text))
