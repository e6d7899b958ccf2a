;;; SPDX-License-Identifier: BSD-2-Clause
;;; Four threads that make conses, vectors and numbers at once, and keep few of them.

(defvar *kept* (make-array 64))

(defun churn (n k)
  (dotimes (i n)
    (setf (svref *kept* (mod (+ i k) 64)) (list i (vector k) (+ 0.5d0 i)))))

(mapc #'mp:process-join
      (loop for k below 4
            collect (let ((k k)) (mp:process-run-function (list :name k) (lambda () (churn 8000 k))))))
(ext:quit 0)
