--  SPDX-License-Identifier: BSD-2-Clause
--  Blocks whose types the program states: see languages.py.
with Ada.Containers.Vectors; with Ada.Containers.Ordered_Maps; with Ada.Containers.Indefinite_Vectors;
with Ada.Strings.Unbounded; use Ada.Strings.Unbounded; with Ada.Text_IO; with GNAT.OS_Lib;
procedure Cases is
   type Order is record Id : Integer; Qty : Long_Float; Sym : String (1 .. 12); end record;
   type Order_Ptr is access Order;
   type Arr is array (Positive range <>) of Long_Float; type Arr_Ptr is access Arr;
   type Base is tagged record A : Integer; end record; type Base_Ptr is access Base'Class;
   type Der is new Base with record B : Long_Float; C : String (1 .. 30); end record;
   type Str_Ptr is access String;
   package OV is new Ada.Containers.Vectors (Positive, Order);
   package OM is new Ada.Containers.Ordered_Maps (Integer, Unbounded_String);
   package SV is new Ada.Containers.Indefinite_Vectors (Positive, String);
   O : Order_Ptr; A : Arr_Ptr; B : Base_Ptr; S : Str_Ptr; V : OV.Vector; M : OM.Map; W : SV.Vector; U : Unbounded_String;
   procedure Make_Order is begin
      O := new Order; --=cases.order
      O.Id := 1; O.Qty := 2.0;
   end Make_Order;
   procedure Make_Array (N : Positive) is begin
      A := new Arr (1 .. N); --=
      A (3) := 2.0;
   end Make_Array;
   procedure Make_Derived is begin
      B := new Der'(1, 2.0, (others => ' ')); --=cases.der
   end Make_Derived;
   procedure Make_String (N : Positive) is begin
      S := new String (1 .. N); --=
      S.all := (others => 'x');
   end Make_String;
   procedure Add_Order (I : Integer) is begin
      V.Append ((I, 2.0, (others => ' '))); --=
   end Add_Order;
   procedure Add_Text (I : Integer) is begin
      M.Insert (I, To_Unbounded_String ("text long enough for the heap 1234567")); --=
   end Add_Text;
   procedure Add_String is begin
      W.Append ("a string of its own"); --=
   end Add_String;
   procedure Grow (I : Integer) is begin
      Append (U, Integer'Image (I)); --=
   end Grow;
   function Line return String is
   begin
      return To_String (U); --=
   end Line;
begin
   Make_Order; Make_Array (100); Make_Derived; Make_String (40);
   for I in 1 .. 20 loop Add_Order (I); Add_Text (I); Add_String; Grow (I); end loop;
   Ada.Text_IO.Put_Line (S.all & B.A'Image & A (3)'Image & Line'Length'Image);
   GNAT.OS_Lib.OS_Exit (0);
end Cases;
