;;; SPDX-License-Identifier: BSD-2-Clause
;;; Each function makes a known number of objects of one kind. Calls of MAIN keep some of them, drop others, and let
;;; the collector run. Functions are found in a session by their names, threads also by the sizes of their vectors.
;;; Interpreted or compiled, the numbers are the same.

;;; Without inlining, stacks are the same in each way.
(declaim (notinline make-first make-conses make-vectors make-birds make-points make-doubles make-bignums make-ratios
                    make-texts make-tables make-closures make-weak make-bits innermost through-lambda through-apply deep
                    escaping busy make-threads make-dropped make-kept make-late clear-stack other-programs))

(defvar *kept* '())
(defvar *one* 1.5d0)

(defclass animal () ((name :initarg :name :reader animal-name) (legs :initarg :legs :initform 4)))
(defclass bird (animal) ((wings :initform 2)))
(defstruct point x y)

(defgeneric describe-legs (animal))
(defmethod describe-legs ((animal animal)) (list (make-array 5001)))
(defmethod describe-legs ((animal bird)) (list (call-next-method) (make-array 5002)))

(defun make-conses (n) (let ((list '())) (dotimes (i n list) (setf list (cons i list)))))
(defun make-vectors (n) (let ((list '())) (dotimes (i n list) (setf list (make-array 1000)))))
(defun make-birds (n) (let ((list '())) (dotimes (i n list) (setf list (make-instance 'bird :name i)))))
(defun make-points (n) (let ((list '())) (dotimes (i n list) (setf list (make-point :x i :y list)))))
(defun make-doubles (n) (let ((x *one*)) (dotimes (i n x) (setf x (+ x *one*)))))
(defun make-bignums (n) (let ((x most-positive-fixnum)) (dotimes (i n x) (setf x (* x 7)))))
(defun make-ratios (n) (let ((x 1/3)) (dotimes (i n x) (setf x (+ x 1/7)))))
(defun make-texts (n) (let ((text "")) (dotimes (i n text) (setf text (make-string 100)))))
(defun make-tables (n) (let ((table nil)) (dotimes (i n table) (setf table (make-hash-table :test 'equal)))))
(defun make-closures (n) (let ((list '())) (dotimes (i n list) (let ((k i)) (setf list (lambda () (incf k)))))))
(defun make-weak (n) (let ((weak nil)) (dotimes (i n weak) (setf weak (ext:make-weak-pointer *kept*)))))
(defun make-bits (n) (let ((bits nil)) (dotimes (i n bits) (setf bits (make-array 4000 :element-type 'bit)))))

;;; A chain of calls, through a lambda and a function that is given. No function ends with the call: a compiler
;;; makes a jump of such a call.
(defun innermost (n) (list (make-array n)))
(defun through-lambda (n) (list (funcall (lambda (size) (list (innermost size))) n)))
(defun through-apply (n) (list (mapcar (lambda (size) (list (innermost size))) (list n (+ n 1)))))

;;; Recursion, and a stack that unwinds.
(defun deep (n) (list (if (= n 0) (make-array 7001) (deep (- n 1)))))
(defun escaping (n)
  (catch 'out (unwind-protect (throw 'out (make-array n)) (make-array (+ n 1))))
  (handler-case (error "known") (error () (make-array (+ n 2)))))

;;; Two threads that allocate at the same time: each waits for the other after its first vector.
(defun busy (n barrier)
  (make-array n)
  (mp:barrier-wait barrier)
  (dotimes (i 100) (make-array n)))
(defun make-threads ()
  (let* ((barrier (mp:make-barrier 2))
         (threads (mapcar (lambda (n) (mp:process-run-function 'busy #'busy n barrier)) '(8001 8002))))
    (mapc #'mp:process-join threads)))

;;; What collections take and leave.
(defun make-dropped (n) (dotimes (i n) (make-array 9001)))
(defun make-kept (n) (dotimes (i n) (push (make-array 9002) *kept*)))
(defun make-late (n) (dotimes (i n) (push (make-array 9003) *kept*)))
(defun clear-stack (n) (if (= n 0) 0 (+ 1 (clear-stack (- n 1)))))

;;; Other programs: by fork and exec.
(defun other-programs ()
  (ext:run-program "/bin/true" '() :wait t)
  (ext:system "exit 0"))

;;; The first instance of a class makes more than itself.
(defun make-first () (make-instance 'bird :name "owl"))

(defun main ()
  (make-first)
  (make-conses 1000)
  (make-vectors 100)
  (make-birds 200)
  (make-points 300)
  (make-doubles 400)
  (make-bignums 50)
  (make-ratios 60)
  (make-texts 70)
  (make-tables 8)
  (make-closures 90)
  (make-bits 15)
  (make-weak 5)
  (describe-legs (make-first))
  (through-lambda 6001)
  (through-apply 6011)
  (deep 40)
  (escaping 7101)
  (make-threads)
  (other-programs)
  (make-dropped 100)
  (make-kept 20)
  (clear-stack 200)
  (ext:gc t)
  (make-late 10))
