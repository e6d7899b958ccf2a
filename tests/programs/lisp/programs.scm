; Programs for the compiler in this folder. The value of the last form has what they compute.
(define (fib n) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2)))))

(define (tak x y z)
  (if (not (< y x)) z
      (tak (tak (- x 1) y z) (tak (- y 1) z x) (tak (- z 1) x y))))

(define (factorial n) (let loop ((n n) (product 1)) (if (= n 0) product (loop (- n 1) (* n product)))))

(define (map f l) (if (null? l) '() (cons (f (car l)) (map f (cdr l)))))

(define (fold f start l) (if (null? l) start (fold f (f start (car l)) (cdr l))))

(define (iota from to) (if (= from to) '() (cons from (iota (+ from 1) to))))

(define (safe? queen distance placed)
  (or (null? placed)
      (and (not (= (car placed) (+ queen distance)))
           (not (= (car placed) (- queen distance)))
           (not (= (car placed) queen))
           (safe? queen (+ distance 1) (cdr placed)))))

(define (queens size)
  (letrec ((try (lambda (column placed)
                  (if (= column size) 1
                      (fold + 0 (map (lambda (queen)
                                       (if (safe? queen 1 placed) (try (+ column 1) (cons queen placed)) 0))
                                     (iota 0 size)))))))
    (try 0 '())))

(define (primes limit)
  (let ((sieve (make-vector (+ limit 1) #t)))
    (let next ((i 2) (found 0))
      (cond ((> i limit) found)
            ((vector-ref sieve i)
             (let strike ((k (* i i)))
               (when (< k (+ limit 1)) (vector-set! sieve k #f) (strike (+ k i))))
             (next (+ i 1) (+ found 1)))
            (else (next (+ i 1) found))))))

(define (compose f g) (lambda (x) (f (g x))))

(define (counter)
  (let ((count 0)) (lambda () (set! count (+ count (* 2 3 (- 7 6)))) count)))

(define (root x)
  (let improve ((guess 1.0) (steps 20))
    (if (= steps 0) guess (improve (/ (+ guess (/ x guess)) 2.0) (- steps 1)))))

(define count (counter))

(list (fib 15) (tak 12 8 4) (factorial 25) (queens 5) (primes 500)
      ((compose (lambda (x) (* x x)) (lambda (x) (+ x 1))) 6)
      (begin (count) (count)) (root 2.0) (string-append "a" "b" "c"))
