! SPDX-License-Identifier: BSD-2-Clause
! Blocks whose types the program states: see languages.py.
module shop
 implicit none
 type item
  integer :: id
  real(8) :: price(3)
  character(len=:), allocatable :: name
 end type
 type, abstract :: shape
 end type
 type, extends(shape) :: disc
  real(8) :: r, q(4)
 end type
 type node
  integer :: v
  type(node), pointer :: next => null()
 end type
 type holder
  real(4), allocatable :: values(:)
  integer(8) :: n
 end type
contains
 subroutine matrix(a, n)
  real(8), allocatable, intent(out) :: a(:,:)
  integer, intent(in) :: n
  allocate(a(n,n)) !=real(kind=8)
  a = 1
 end subroutine
 subroutine items(v, n)
  type(item), allocatable, intent(out) :: v(:)
  integer, intent(in) :: n
  allocate(v(n)) !=item
 end subroutine
 subroutine name(v)
  type(item), intent(inout) :: v
  v%name = "a long fortran string here" !=character(kind=1)
 end subroutine
 subroutine link(h)
  type(node), pointer, intent(out) :: h
  allocate(h) !=node
  h%v = 1
 end subroutine
 subroutine shapes(s)
  class(shape), allocatable, intent(out) :: s
  allocate(disc :: s) !=disc
 end subroutine
 subroutine numbers(k, n)
  integer, allocatable, intent(inout) :: k(:)
  integer, intent(in) :: n
  allocate(k(n)) !=integer(kind=4)
  k = 3
 end subroutine
 subroutine grow(k)
  integer, allocatable, intent(inout) :: k(:)
  k = [k, k] !=integer(kind=4)
 end subroutine
 subroutine waves(z, n)
  complex, pointer, intent(out) :: z(:)
  integer, intent(in) :: n
  allocate(z(n)) !=complex(kind=4)
  z = (1.0, 2.0)
 end subroutine
 subroutine hold(h, n)
  type(holder), intent(inout) :: h
  integer, intent(in) :: n
  allocate(h%values(n)) !=real(kind=4)
  h%values = 2
 end subroutine
 function text(n) result(t)
  integer, intent(in) :: n
  character(len=:), allocatable :: t
  allocate(character(len=n) :: t) !=character(kind=1)
  t = repeat('x', n)
 end function
end module
program p
 use shop
 real(8), allocatable :: a(:,:)
 type(item), allocatable :: v(:)
 class(shape), allocatable :: s
 type(node), pointer :: h
 type(holder) :: c
 integer, allocatable :: k(:)
 complex, pointer :: z(:)
 character(len=:), allocatable :: t
 call matrix(a, 20)
 call items(v, 7)
 call name(v(1))
 call shapes(s)
 call link(h)
 call link(h%next)
 allocate(k(0))
 deallocate(k)
 call numbers(k, 50)
 call grow(k)
 call waves(z, 9)
 call hold(c, 33)
 t = text(100)
 print *, sum(a), k(3), z(1), c%values(2), len(t)
end program
